// Entry of the broker's thread when running from sources: a worker does not inherit the TypeScript loader.
import { register } from 'tsx/esm/api';

register();
await import('./thread-main.ts');
