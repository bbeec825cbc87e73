// The security headers of every response.
import type { OutgoingHttpHeaders } from 'node:http';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { HelmetOptions } from 'helmet';
import helmet from 'helmet';

/** Paths that no site may frame: the operator's page, and the API with its reference. */
const NEVER_FRAMED = /^\/+((rest\/+)?admin|api)(?=$|[/?#;*])/i;
/** The routes of the API and its reference. */
const API = /^\/api(?=$|\/)/;

/**
 * Adds helmet's headers to every response. `instance/frame-ancestors.ts` decides who may frame the instance
 * (5.5.3).
 * @rule D111 No site may frame the operator's page, the API's reference, or a response of either API.
 * @param frameAncestors the origins that may frame the instance's pages; empty: none may; undefined: a reverse proxy
 * sets the header
 * @returns replaces the origins
 */
export function addSecurityHeaders(
  application: NestFastifyApplication,
  frameAncestors: readonly string[] | undefined,
): (frameAncestors: readonly string[] | undefined) => void {
  let headers = headersFor(frameAncestors);
  const unframed = headersFor([]);
  const reference = headersFor([], false);
  const server: FastifyInstance = application.getHttpAdapter().getInstance();
  server.addHook('onRequest', (request, reply, done) => {
    const neverFramed = API.test(request.routeOptions.url ?? '') ? reference : unframed;
    const { http, https } = isNeverFramed(request) ? neverFramed : headers;
    void reply.headers(request.protocol === 'https' ? https : http);
    done();
  });
  return (changed) => (headers = headersFor(changed));
}

/** Their URLs contain one of these words, or an escape that may hide it. */
const MAY_BE_NEVER_FRAMED = /admin|api|%/i;

/**
 * Checks the matched route, however the URL is written; without a route, the URL. An undecodable URL must not
 * be framed.
 */
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
 * The `Content-Security-Policy` of pages that only some sites may frame.
 * @param frameAncestors the origins that may frame them; empty: none may; undefined: a reverse proxy sets the
 * header
 */
export function framingPolicy(frameAncestors: readonly string[] | undefined): string {
  return String(headersFor(frameAncestors).http['content-security-policy']);
}

/** Headers for plain HTTP and for HTTPS, according to the socket and the trusted proxies. */
interface HeadersByScheme {
  readonly http: OutgoingHttpHeaders;
  readonly https: OutgoingHttpHeaders;
}

/** `Strict-Transport-Security` is sent over HTTPS only (D27, RFC 6797 §7.2). */
function headersFor(frameAncestors: readonly string[] | undefined, hasTrustedTypes = true): HeadersByScheme {
  const byScheme = (isHttps: boolean) => headersBy(optionsFor(frameAncestors, isHttps, hasTrustedTypes));
  return { http: byScheme(false), https: byScheme(true) };
}

/** `X-Frame-Options` cannot list origins, so it is sent only if no origin may frame. */
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
        // Swagger UI, which renders the API's reference, writes HTML.
        ...(hasTrustedTypes && { requireTrustedTypesFor: ["'script'"], trustedTypes: ["'none'"] }),
        ...(frameAncestors === undefined ? {} : { frameAncestors: sourcesOf(frameAncestors) }),
      },
    },
    frameguard: frameAncestors?.length === 0 ? { action: 'deny' } : false,
    referrerPolicy: { policy: 'no-referrer' },
  };
}

/**
 * Asks helmet once per set of options. The headers depend on nothing else, but helmet would build the policy
 * again for each request.
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
