export { compileTable, type TransitionTable } from './compiled-table.ts';
export { mermaidDiagram } from './diagram.ts';
export { requestMachine, type RequestContext, type RequestEvent } from './request.ts';
export {
  createRequestLifecycle,
  type RequestLifecycle,
  type RequestPhase,
  type RequestState,
} from './request-lifecycle.ts';
export { subserverMachine, type SubserverEvent } from './subserver.ts';
export {
  createSubserverLifecycle,
  type SubserverLifecycle,
  type SubserverPhase,
} from './subserver-lifecycle.ts';
