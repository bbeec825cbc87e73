// Reads the bodies of the two flows as they are sent, before the parsers of the host.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { OnModuleInit } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { RequestBody, BodyLabel } from '../../platform/http/body.js';
import { readBody } from '../../platform/http/body.js';
import type { HttpRequest } from '../../platform/http/http-answers.js';
import { nodeRequestOf } from '../../platform/http/http-answers.js';
import type { RouteSettings } from '../settings/token-exchange.options.js';
import { ROUTE_SETTINGS } from '../settings/token-exchange.options.js';
import { ENDPOINTS } from './paths.js';

/** A body with what its sender says of it. */
export interface LabelledBody {
  readonly label: BodyLabel;
  readonly body: RequestBody;
}

const ARRIVED = Symbol('the body that was taken');
/** What says that a request has a body. */
const BODY_HEADERS = ['content-type', 'content-encoding', 'content-length', 'transfer-encoding'] as const;

/** A request of Node's that carries the body that was taken from it. */
type MarkedRequest = IncomingMessage & { [ARRIVED]?: LabelledBody };

/** The used members of a Fastify request: Node's own, and the pattern of its route. */
interface FastifyRequest {
  readonly raw: IncomingMessage;
  readonly routeOptions: { readonly url?: string };
}

/** The used members of a Fastify instance. */
interface FastifyHooks {
  addHook(
    name: 'preParsing',
    hook: (request: FastifyRequest, reply: unknown, payload: unknown, done: (error?: Error) => void) => void,
  ): unknown;
}

/**
 * A parser of the host would hide duplicate fields, broken escapes and other charsets of a form. So these bodies are read before
 * it, and later parsers find none.
 */
@Injectable()
export class FormBodies implements OnModuleInit {
  /** In small letters. */
  private readonly paths: readonly string[];

  constructor(
    private readonly host: HttpAdapterHost,
    @Inject(ROUTE_SETTINGS) { pathPrefix }: Required<RouteSettings>,
  ) {
    this.paths = Object.values(ENDPOINTS).map((path) => (pathPrefix + path).toLowerCase());
  }

  /** @throws Error for another HTTP server than Nest's adapters for Express and Fastify */
  onModuleInit(): void {
    const { httpAdapter } = this.host;
    const type = httpAdapter?.getType?.();
    if (type === 'fastify') this.readBeforeFastify(httpAdapter.getInstance<FastifyHooks>());
    else if (type === 'express') this.readBeforeExpress(httpAdapter.getHttpServer() as Server);
    // Without an adapter there is no HTTP here: a command has the modules only.
    else if (type) throw new Error(`token exchange does not know the HTTP server "${type}"`);
  }

  /**
   * The body of a request. Where it has not come by Node's server (it was handed to Express as a function), it is what
   * Nest keeps under `rawBody: true`.
   * @throws Error where neither is there
   */
  of(request: HttpRequest & { readonly rawBody?: unknown; readonly body?: unknown }): LabelledBody {
    const { [ARRIVED]: arrived } = nodeRequestOf(request) as MarkedRequest;
    if (arrived !== undefined) return arrived;
    const body = [request.rawBody, request.body].find((each) => Buffer.isBuffer(each));
    if (body === undefined && request.body !== undefined)
      throw new Error('the body was parsed before it was read; create the application with rawBody: true');
    return { label: request.headers, body };
  }

  /** The bytes of a body that a guard has let through. */
  bytesOf(request: HttpRequest): Uint8Array {
    const { body } = this.of(request);
    return body instanceof Uint8Array ? body : new Uint8Array();
  }

  private readBeforeFastify(fastify: FastifyHooks): void {
    fastify.addHook('preParsing', ({ raw, routeOptions: { url } }, _reply, _payload, done) => {
      if (!this.isForm(raw.method, url)) return done();
      this.take(raw).then(() => done(), done);
    });
  }

  /** Express has no place before earlier handlers, so Node's server waits. */
  private readBeforeExpress(server: Server): void {
    const listeners = server.rawListeners('request') as RequestListener[];
    server.removeAllListeners('request');
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const goOn = () => listeners.forEach((listener) => listener.call(server, request, response));
      if (!this.isForm(request.method, request.url?.split(/[?#]/, 1)[0])) return goOn();
      // A client that broke off waits for no answer.
      this.take(request).then(goOn, () => response.destroy());
    });
  }

  private async take(request: MarkedRequest): Promise<void> {
    // Another registration of the module on the same server has it.
    if (request[ARRIVED] !== undefined) return;
    const { headers } = request;
    const label = {
      'content-type': headers['content-type'],
      'content-encoding': headers['content-encoding'],
    };
    const body = await readBody(request, Number(headers['content-length'] ?? 0));
    request[ARRIVED] = { label, body };
    // Not deleted: that would make all further reading of the headers slower.
    for (const name of BODY_HEADERS) headers[name] = undefined;
  }
  /** By the end of its path: the host may have put a prefix before it. Express takes a slash behind it, and any case. */
  private isForm(method: string | undefined, path = ''): boolean {
    if (method !== 'POST') return false;
    const plain = path.replace(/\/$/, '').toLowerCase();
    return this.paths.some((form) => plain.endsWith(form));
  }
}
