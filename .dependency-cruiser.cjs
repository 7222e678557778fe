/** Import rules of the house: deploy → actors → {machines, transport, engine, routers, scheduling} → core. */
const leaves = ['machines', 'transport', 'engine', 'routers', 'scheduling'];

const leafRule = (leaf) => ({
  name: `${leaf}-knows-only-core`,
  severity: 'error',
  from: { path: `^${leaf}/` },
  to: {
    path: `^(${[...leaves.filter((other) => other !== leaf), 'actors', 'simulation', 'deploy', 'bench', 'test'].join('|')})/`,
    // Routers may import the types of the engine's contract.
    ...(leaf === 'routers' ? { pathNot: '^engine/engine\\.ts$' } : {}),
  },
});

const onlyFrom = (name, fromPathNot, toPath) => ({
  name,
  severity: 'error',
  from: {
    path: '^(core|machines|transport|engine|routers|scheduling|actors|simulation|deploy)/',
    pathNot: fromPathNot,
  },
  to: { path: toPath },
});

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'core-imports-nothing',
      severity: 'error',
      from: { path: '^core/' },
      to: { path: `^(${leaves.join('|')}|actors|simulation|deploy|bench|test)/` },
    },
    {
      name: 'core-has-no-packages',
      severity: 'error',
      from: { path: '^core/' },
      to: { dependencyTypes: ['npm', 'npm-dev'] },
    },
    ...leaves.map(leafRule),
    {
      name: 'routers-take-engine-types-only',
      severity: 'error',
      from: { path: '^routers/' },
      to: { path: '^engine/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'actors-know-no-deploy',
      severity: 'error',
      from: { path: '^actors/' },
      to: { path: '^(simulation|deploy|bench|test)/' },
    },
    {
      name: 'simulation-knows-no-deploy',
      severity: 'error',
      from: { path: '^simulation/' },
      to: { path: '^(deploy|bench|test)/' },
    },
    {
      name: 'product-knows-no-tests',
      severity: 'error',
      from: { path: '^(core|machines|transport|engine|routers|scheduling|actors|simulation|deploy|bench)/' },
      to: { path: '^test/' },
    },
    onlyFrom('onnxruntime-only-in-engine-onnx', '^engine/onnx/', 'node_modules/onnxruntime-node'),
    onlyFrom('nats-only-in-transport', '^transport/', 'node_modules/nats/'),
    onlyFrom('msgpackr-only-in-transport', '^transport/', 'node_modules/msgpackr'),
    onlyFrom('xstate-only-in-machines', '^machines/', 'node_modules/xstate'),
    onlyFrom('fastify-only-in-gateway', '^actors/gateway/', 'node_modules/fastify'),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.mjs', '.js', '.cjs', '.json'],
      conditionNames: ['import', 'require', 'node', 'default'],
    },
  },
};
