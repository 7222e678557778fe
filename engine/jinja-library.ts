import * as library from '@huggingface/jinja';

/** The part of the Jinja library that is used here. Its own declarations do not resolve under NodeNext. */
interface JinjaLibrary {
  tokenize: (template: string, options: { lstrip_blocks: boolean; trim_blocks: boolean }) => unknown;
  parse: (tokens: unknown) => unknown;
  Environment: new () => { set(name: string, value: unknown): unknown };
  Interpreter: new (environment: object) => { run(program: unknown): { value: string } };
}

const { tokenize, parse, Environment, Interpreter } = library as unknown as JinjaLibrary;

/** A parsed template. */
export interface JinjaProgram {
  /** @throws Error whatever the template or a function given to it throws */
  render(variables: Readonly<Record<string, unknown>>): string;
}

/** Parses a template with the whitespace rules of chat templates. @throws Error with the place of the fault */
export function parseJinja(source: string): JinjaProgram {
  const program = parse(tokenize(source, { lstrip_blocks: true, trim_blocks: true }));
  return {
    render(variables) {
      const environment = new Environment();
      for (const [name, value] of Object.entries(variables)) environment.set(name, value);
      return new Interpreter(environment).run(program).value;
    },
  };
}
