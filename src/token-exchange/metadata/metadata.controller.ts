// Publishes the metadata of access tokens, so that clients need only the base address.
import type { OnApplicationBootstrap, Type } from '@nestjs/common';
import {
  Controller,
  Get,
  Inject,
  Injectable,
  Module,
  NotFoundException,
  Options,
  Req,
  RequestMethod,
  Res,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { ApplicationConfig } from '@nestjs/core';
import type { HttpRequest } from '../../platform/http/http-messages.js';
import { HttpAnswers } from '../../platform/http/http-messages.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { CLIENT_AUTH_METHODS } from '../assertions/client-authenticator.js';
import { ENDPOINTS } from '../endpoint/flows.js';
import {
  KEY_SET,
  KEY_SET_PATH,
  RESOURCE_METADATA,
  RESOURCE_METADATA_PATH,
  SERVER_METADATA,
  SERVER_METADATA_PATHS,
  WELL_KNOWN,
} from '../endpoint/paths.js';
import { OwnRoutes } from '../host/token-exchange-auth.js';
import type { RouteSettings } from '../settings/token-exchange.options.js';
import { ROUTE_SETTINGS } from '../settings/token-exchange.options.js';
import { ACCESS_TOKEN_ALGORITHM } from '../tokens/access-token.service.js';
import { SigningKeyService } from '../tokens/signing-key.service.js';
import { ALGORITHMS } from '../trust/algorithms.js';

/** Where access tokens are issued. */
export interface TokenEndpoint {
  readonly path: string;
  /** The accepted grants. */
  readonly grantTypes: readonly string[];
  /** The authentication methods of clients: `none` if the grant has its own credential. */
  readonly authMethods: readonly string[];
  /** The accepted profiles of grants. */
  readonly grantProfiles?: readonly string[];
  /** The revocation endpoint. */
  readonly revocationPath: string;
  /** The introspection endpoint. */
  readonly introspectionPath: string;
  /** Whether any entry names a client by its client ID metadata document. */
  readonly namesDocuments: boolean;
}

/** The published metadata. */
export interface MetadataOptions {
  /** An origin: `iss` and `aud` of access tokens. */
  readonly baseUrl: string;
  /** The scopes of access tokens; not published if unknown. */
  readonly scopes?: readonly string[];
  /** Returns undefined while no token endpoint answers: a licence may end while the service runs. */
  readonly tokenEndpoint: () => TokenEndpoint | undefined;
  readonly resourceName?: string;
  readonly resourceDocumentation?: string;
}

/** Injection token of the options. */
export const METADATA_OPTIONS = Symbol('METADATA_OPTIONS');

/**
 * The base address is an origin, so that the documents' paths follow it directly (RFC 8414 §3.1, RFC 9728 §3.1).
 * @rule D58 Clients find the issuer at `/.well-known`, as long as the token endpoint answers.
 * See challenge.ts for `resource_metadata` in the 401.
 */
@OwnRoutes()
@Controller({ path: WELL_KNOWN, version: VERSION_NEUTRAL })
export class MetadataController {
  constructor(
    @Inject(METADATA_OPTIONS) private readonly options: MetadataOptions,
    private readonly answers: HttpAnswers,
  ) {}

  @Get(SERVER_METADATA)
  authorizationServer(@Req() request: HttpRequest, @Res() response: object): void {
    this.answers.publish(request, response, this.serverMetadata());
  }

  @Options(SERVER_METADATA)
  permitServer(@Req() request: HttpRequest, @Res() response: object): void {
    this.serverMetadata();
    this.answers.permit(request, response);
  }

  @Get(RESOURCE_METADATA)
  resource(@Req() request: HttpRequest, @Res() response: object): void {
    this.answers.publish(request, response, this.resourceMetadata());
  }

  @Options(RESOURCE_METADATA)
  permitResource(@Req() request: HttpRequest, @Res() response: object): void {
    this.answers.permit(request, response);
  }

  /** RFC 8414 §2. @throws NotFoundException while no token endpoint answers */
  private serverMetadata() {
    const tokenEndpoint = this.options.tokenEndpoint();
    if (tokenEndpoint === undefined) throw new NotFoundException();
    const { baseUrl, scopes } = this.options;
    const { grantTypes, authMethods, grantProfiles } = tokenEndpoint;
    return {
      issuer: baseUrl,
      token_endpoint: baseUrl + tokenEndpoint.path,
      revocation_endpoint: baseUrl + tokenEndpoint.revocationPath,
      introspection_endpoint: baseUrl + tokenEndpoint.introspectionPath,
      jwks_uri: baseUrl + KEY_SET_PATH,
      scopes_supported: scopes,
      grant_types_supported: grantTypes,
      // Required, although no flow redirects a browser. Some clients refuse an empty list.
      response_types_supported: ['none'],
      token_endpoint_auth_methods_supported: authMethods,
      ...(authMethods.includes('private_key_jwt') && {
        token_endpoint_auth_signing_alg_values_supported: ALGORITHMS,
      }),
      ...(grantProfiles && {
        // draft-ietf-oauth-identity-assertion-authz-grant §7.2.
        authorization_grant_profiles_supported: grantProfiles,
        // MCP clients refuse metadata without this property, although no grant uses it. A GET there gets 405.
        authorization_endpoint: baseUrl + tokenEndpoint.path,
      }),
      // draft-ietf-oauth-client-id-metadata-document.
      ...(tokenEndpoint.namesDocuments && { client_id_metadata_document_supported: true }),
      revocation_endpoint_auth_methods_supported: ['none', ...CLIENT_AUTH_METHODS],
      revocation_endpoint_auth_signing_alg_values_supported: ALGORITHMS,
      introspection_endpoint_auth_methods_supported: CLIENT_AUTH_METHODS,
      introspection_endpoint_auth_signing_alg_values_supported: ALGORITHMS,
      dpop_signing_alg_values_supported: ALGORITHMS,
      // OpenID Connect requires these two. No ID token is ever issued, but verifiers read the algorithm of access tokens here.
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [ACCESS_TOKEN_ALGORITHM],
      protected_resources: [baseUrl],
    };
  }

  /** RFC 9728 §2. Sessions are for the host's own pages, so only Bearer is listed. */
  private resourceMetadata() {
    const { baseUrl, scopes, tokenEndpoint } = this.options;
    return {
      resource: baseUrl,
      resource_name: this.options.resourceName,
      ...(tokenEndpoint() === undefined ? {} : { authorization_servers: [baseUrl] }),
      scopes_supported: scopes,
      bearer_methods_supported: ['header'],
      dpop_signing_alg_values_supported: ALGORITHMS,
      resource_documentation: this.options.resourceDocumentation,
    };
  }
}

@OwnRoutes()
@Controller({ path: WELL_KNOWN, version: VERSION_NEUTRAL })
export class KeySetController {
  constructor(
    private readonly signingKeys: SigningKeyService,
    private readonly answers: HttpAnswers,
  ) {}

  @Get(KEY_SET)
  keySet(@Req() request: HttpRequest, @Res() response: object): void {
    this.answers.publish(request, response, this.signingKeys.publicKeys());
  }

  @Options(KEY_SET)
  permit(@Req() request: HttpRequest, @Res() response: object): void {
    this.answers.permit(request, response);
  }
}

export const PUBLISHED_CONTROLLERS: Type<object>[] = [MetadataController, KeySetController];

/**
 * A separate module, because the endpoints' prefix does not apply to these documents. Needs `METADATA_OPTIONS` and
 * `SigningKeyService`, which the global `TokenExchangeModule` exports.
 */
@Module({ controllers: PUBLISHED_CONTROLLERS, providers: [HttpAnswers] })
export class WellKnownModule {}

/** Warns at the start if the host's global prefix precedes the published documents, so that clients get 404. */
@Injectable()
export class PublishedPaths implements OnApplicationBootstrap {
  constructor(
    private readonly application: ApplicationConfig,
    @Inject(ROUTE_SETTINGS) private readonly routes: Required<RouteSettings>,
    @Inject(LOGGER) private readonly log: Log,
  ) {}

  onApplicationBootstrap(): void {
    const { pathPrefix, metadata } = this.routes;
    if (!metadata || /^\/*$/.test(this.application.getGlobalPrefix())) return;
    const { exclude = [] } = this.application.getGlobalPrefixOptions();
    const { exchange, revocation, introspection } = ENDPOINTS;
    const missingFor = (method: RequestMethod, paths: readonly string[]) => {
      const fitting = exclude.filter(({ requestMethod: own }) => [RequestMethod.ALL, method].includes(own));
      const prefixed = paths.filter((path) => !fitting.some(({ pathRegex }) => pathRegex.test(path)));
      return prefixed.map((path) => `${RequestMethod[method]} ${path}`);
    };
    const published = [KEY_SET_PATH, RESOURCE_METADATA_PATH, ...SERVER_METADATA_PATHS];
    const endpoints = [exchange, revocation, introspection].map(({ path }) => pathPrefix + path);
    const missing = [
      ...missingFor(RequestMethod.GET, published),
      // Browsers send it before a request with custom headers.
      ...missingFor(RequestMethod.OPTIONS, published),
      ...missingFor(RequestMethod.POST, endpoints),
    ];
    if (missing.length === 0) return;
    const tokens = `${pathPrefix}/oauth`.slice(1);
    this.log.warn(
      { missing },
      'metadata contains addresses that answer 404 because of a global prefix: write ' +
        `setGlobalPrefix(…, { exclude: ['${WELL_KNOWN}/{*path}', '${tokens}/{*path}'] })`,
    );
  }
}
