// The security headers of every answer.
import helmet from '@fastify/helmet';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';

/**
 * Registers @fastify/helmet.
 * @param mayBeFramed with embedded login on, who may frame the instance is left to the reverse proxy (5.5.3); else nobody
 */
export async function addSecurityHeaders(
  application: NestFastifyApplication,
  mayBeFramed: boolean,
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
        ...(mayBeFramed ? {} : { frameAncestors: ["'none'"] }),
      },
    },
    frameguard: mayBeFramed ? false : { action: 'deny' },
    referrerPolicy: { policy: 'no-referrer' },
  });
}
