// The security headers of every answer.
import { IncomingMessage, ServerResponse } from 'node:http';
import type { OutgoingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import helmet from 'helmet';
import type { HelmetOptions } from 'helmet';

/** Pages and answers that no site may frame: the operator's, and those of the API with its reference. */
const NEVER_FRAMED = /^\/+((rest\/+)?admin|api)(?=$|[/?#;*])/i;

/**
 * Adds the headers of helmet to every answer. `instance/frame-ancestors.ts` decides who may frame the instance (5.5.3).
 * @rule D111 No site may frame the operator's page, the API's reference, or an answer of either API.
 * @param frameAncestors returns the origins that may frame pages of the instance, as the same list until it changes; empty: none
 *   may; undefined: a reverse proxy sets the header
 */
export function addSecurityHeaders(
  application: NestFastifyApplication,
  frameAncestors: () => readonly string[] | undefined,
): void {
  let known = frameAncestors();
  let headers = headersFor(known);
  const unframed = headersFor([], false);
  const server: FastifyInstance = application.getHttpAdapter().getInstance();
  server.addHook('onRequest', (request, reply, done) => {
    const present = frameAncestors();
    if (present !== known) {
      known = present;
      headers = headersFor(known);
    }
    const { http, https } = isNeverFramed(request) ? unframed : headers;
    void reply.headers(request.protocol === 'https' ? https : http);
    done();
  });
}

/** Every address of theirs has one of these words in it, or an escape that may hide it. */
const MAY_BE_NEVER_FRAMED = /admin|api|%/i;

/** By the route that answers, however its address was written, and by the address where none does: what cannot be read is not framed. */
function isNeverFramed({ url, routeOptions }: FastifyRequest): boolean {
  if (!MAY_BE_NEVER_FRAMED.test(url)) return false;
  if (NEVER_FRAMED.test(routeOptions.url ?? '')) return true;
  try {
    return NEVER_FRAMED.test(decodeURIComponent(url.split('?', 1)[0] ?? ''));
  } catch {
    return true;
  }
}

/**
 * The `Content-Security-Policy` of a page that not all sites may frame that may frame the instance.
 * @param frameAncestors the origins that may frame it; empty: none may; undefined: a reverse proxy sets the header
 */
export function framingPolicy(frameAncestors: readonly string[] | undefined): string {
  return String(headersFor(frameAncestors).http['content-security-policy']);
}

/** Headers of answers over plain HTTP and over HTTPS, as the server knows by its socket and its trusted proxies. */
interface HeadersByScheme {
  readonly http: OutgoingHttpHeaders;
  readonly https: OutgoingHttpHeaders;
}

/** `Strict-Transport-Security` is only sent over HTTPS (D27, RFC 6797 §7.2). */
function headersFor(frameAncestors: readonly string[] | undefined, hasTrustedTypes = true): HeadersByScheme {
  const byScheme = (isHttps: boolean) => headersBy(optionsFor(frameAncestors, isHttps, hasTrustedTypes));
  return { http: byScheme(false), https: byScheme(true) };
}

/** `X-Frame-Options` knows no list of origins, so it goes with the empty list only. */
function optionsFor(
  frameAncestors: readonly string[] | undefined,
  isHttps: boolean,
  hasTrustedTypes: boolean,
): HelmetOptions {
  return {
    strictTransportSecurity: isHttps,
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        connectSrc: ["'self'"],
        imgSrc: ["'self'", 'data:'],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        // The reference of the API is made by Swagger UI, which writes HTML.
        ...(hasTrustedTypes && { requireTrustedTypesFor: ["'script'"], trustedTypes: ["'none'"] }),
        ...(frameAncestors === undefined ? {} : { frameAncestors: sourcesOf(frameAncestors) }),
      },
    },
    frameguard: frameAncestors?.length === 0 ? { action: 'deny' } : false,
    referrerPolicy: { policy: 'no-referrer' },
  };
}

/**
 * What helmet answers, asked once for the same options: its headers depend on nothing else, but it would put the policy
 * together anew for each request.
 */
function headersBy(options: HelmetOptions): OutgoingHttpHeaders {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  helmet(options)(request, response, () => undefined);
  return response.getHeaders();
}

function sourcesOf(origins: readonly string[]): string[] {
  return origins.length === 0 ? ["'none'"] : [...origins];
}
