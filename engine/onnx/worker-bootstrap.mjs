// A worker thread cannot start from a .ts file: the loader has to be registered inside the thread first.
import { register } from 'tsx/esm/api';

register();
await import('./worker.ts');
