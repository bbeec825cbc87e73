// Sends requests to the services of the flows, with what surrounds a request and without HTTP.
import type { Flow } from '../../src/token-exchange/flow.js';
import {
  EmbedLoginInterceptor,
  ExchangeInterceptor,
} from '../../src/token-exchange/http/flow.interceptor.js';
import type { FlowRequest } from '../../src/token-exchange/flows/flow-request.js';
import type { TestService } from './test-service.js';

/** @throws what the work throws, once its failure is recorded */
export async function sendBeside<T>(
  service: TestService,
  { flow, requestId }: { readonly flow: Flow; readonly requestId: string },
  work: (request: FlowRequest) => Promise<T>,
): Promise<T> {
  const interceptor =
    flow === 'exchange' ? service.part(ExchangeInterceptor) : service.part(EmbedLoginInterceptor);
  const request = interceptor.received({ method: 'POST', url: '/', headers: {}, id: requestId });
  try {
    return await work(request);
  } catch (error) {
    return await interceptor.fail(request, error);
  }
}
