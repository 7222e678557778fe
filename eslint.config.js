import js from '@eslint/js';
import globals from 'globals';
import tseslint from 'typescript-eslint';

/** Time and randomness are injected, so that the same actors run in virtual time (see core/clock.ts). */
const injectedOnly = [
  {
    selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
    message: 'use the injected Clock',
  },
  {
    selector: "CallExpression[callee.object.name='performance'][callee.property.name='now']",
    message: 'use the injected Clock',
  },
  { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: 'use the injected Clock' },
  {
    selector: "CallExpression[callee.object.name='Math'][callee.property.name='random']",
    message: 'use the injected randomness',
  },
  {
    selector: 'CallExpression[callee.name=/^(setTimeout|setInterval|setImmediate|queueMicrotask)$/]',
    message: 'use the injected Clock',
  },
];

export default tseslint.config(
  { ignores: ['node_modules', 'dist', 'coverage', 'models', 'training', 'test/fixtures'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      'max-lines': ['error', { max: 300 }],
      'max-lines-per-function': ['error', { max: 40, skipBlankLines: true, skipComments: true }],
      eqeqeq: 'error',
    },
  },
  {
    files: [
      'actors/**/*.ts',
      'machines/**/*.ts',
      'scheduling/**/*.ts',
      'routers/**/*.ts',
      'transport/**/*.ts',
      'engine/**/*.ts',
    ],
    rules: { 'no-restricted-syntax': ['error', ...injectedOnly] },
  },
  {
    // The client library and the broker own sockets and their timers; the engine worker measures its own steps.
    files: [
      'transport/nats.ts',
      'transport/embedded-broker/**/*.ts',
      'engine/onnx/worker*.ts',
      'engine/onnx/step-timer.ts',
    ],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts'],
    rules: { 'max-lines-per-function': 'off' },
  },
  { files: ['**/*.js', '**/*.mjs', '**/*.cjs'], languageOptions: { globals: globals.node } },
);
