// Sends requests to the services of the flows, with what surrounds a request and without HTTP.
import type { FlowRequest } from '../../src/token-exchange/endpoint/flow.runner.js';
import { FlowRunner } from '../../src/token-exchange/endpoint/flow.runner.js';
import type { Flow } from '../../src/token-exchange/endpoint/flows.js';
import type { TestService } from './test-service.js';

/** @throws what the work throws, once its failure is recorded */
export function sendBeside<T>(
  service: TestService,
  { flow, requestId }: { readonly flow: Flow; readonly requestId: string },
  work: (request: FlowRequest) => Promise<T>,
): Promise<T> {
  const http = { method: 'POST', url: '/', headers: {}, id: requestId };
  return service.part(FlowRunner).run(flow, http, work);
}
