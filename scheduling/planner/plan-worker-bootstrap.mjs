// A worker cannot start from a .ts file: tsx has to be registered in it first.
import { register } from 'tsx/esm/api';

register();
await import('./plan-worker.ts');
