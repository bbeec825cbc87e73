// The security headers of every answer.
import helmet from '@fastify/helmet';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';

/**
 * Registers @fastify/helmet.
 * @param frameAncestors the origins that may frame pages of ours; none at all: nobody may; undefined: nothing is said
 *   here, a reverse proxy says it. `X-Frame-Options` knows no list of origins, so it goes with the empty list only.
 */
export async function addSecurityHeaders(
  application: NestFastifyApplication,
  frameAncestors: readonly string[] | undefined,
): Promise<void> {
  await application.register(helmet, {
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
        ...(frameAncestors === undefined ? {} : { frameAncestors: sourcesOf(frameAncestors) }),
      },
    },
    frameguard: frameAncestors?.length === 0 ? { action: 'deny' } : false,
    referrerPolicy: { policy: 'no-referrer' },
  });
}

function sourcesOf(origins: readonly string[]): string[] {
  return origins.length === 0 ? ["'none'"] : [...origins];
}
