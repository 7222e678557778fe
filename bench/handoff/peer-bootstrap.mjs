// Entry of a peer process when running from sources.
import { register } from 'tsx/esm/api';

register();
await import('./peer.ts');
