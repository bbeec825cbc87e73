// Publishes where access tokens come from and what they are for, so that clients need nothing but the base address.
import { Controller, Get, Inject, NotFoundException, UseInterceptors } from '@nestjs/common';
import { ACCESS_TOKEN_ALGORITHM } from '../token-exchange/advanced.js';
import type { AccessOptions } from './access.options.js';
import { ACCESS_OPTIONS } from './access.options.js';
import { PublishedInterceptor } from './published.interceptor.js';
import { KEY_SET_PATH, RESOURCE_METADATA, SERVER_METADATA, WELL_KNOWN } from './well-known.js';

/** RFC 8414 §2. */
interface AuthorizationServerMetadata {
  readonly issuer: string;
  readonly token_endpoint: string;
  readonly revocation_endpoint: string;
  readonly jwks_uri: string;
  readonly scopes_supported: readonly string[];
  readonly grant_types_supported: readonly string[];
  readonly response_types_supported: readonly string[];
  readonly token_endpoint_auth_methods_supported: readonly string[];
  readonly revocation_endpoint_auth_methods_supported: readonly string[];
  readonly subject_types_supported: readonly string[];
  readonly id_token_signing_alg_values_supported: readonly string[];
  readonly protected_resources: readonly string[];
}

/** RFC 9728 §2. */
interface ResourceMetadata {
  readonly resource: string;
  readonly resource_name: string;
  readonly authorization_servers?: readonly string[];
  readonly scopes_supported: readonly string[];
  readonly bearer_methods_supported: readonly string[];
  readonly resource_documentation: string;
}

/**
 * The base address is an origin, so that nothing has to be put between it and the path of a document (RFC 8414 §3.1,
 * RFC 9728 §3.1).
 * @rule D58 Who issues access tokens is found at `/.well-known`, as long as the token endpoint answers.
 * See challenge.ts for `resource_metadata` in the 401.
 */
@Controller(WELL_KNOWN)
@UseInterceptors(PublishedInterceptor)
export class MetadataController {
  constructor(@Inject(ACCESS_OPTIONS) private readonly options: AccessOptions) {}

  @Get(SERVER_METADATA)
  authorizationServer(): AuthorizationServerMetadata {
    const tokenEndpoint = this.options.tokenEndpoint();
    if (tokenEndpoint === undefined) throw new NotFoundException();
    const { baseUrl, scopes } = this.options;
    return {
      issuer: baseUrl,
      token_endpoint: baseUrl + tokenEndpoint.path,
      revocation_endpoint: baseUrl + tokenEndpoint.revocationPath,
      jwks_uri: baseUrl + KEY_SET_PATH,
      scopes_supported: scopes,
      grant_types_supported: [tokenEndpoint.grantType],
      // Required, and nobody is sent through a browser for a token. Some clients refuse an empty list.
      response_types_supported: ['none'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      // These two OpenID Connect requires. No ID token is ever issued; verifiers take the algorithm of access tokens from here.
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [ACCESS_TOKEN_ALGORITHM],
      protected_resources: [baseUrl],
    };
  }

  /** Sessions are for this instance's own pages; of what others can present the Bearer is all. */
  @Get(RESOURCE_METADATA)
  resource(): ResourceMetadata {
    const { baseUrl, scopes, tokenEndpoint } = this.options;
    return {
      resource: baseUrl,
      resource_name: 'Instance API',
      ...(tokenEndpoint() === undefined ? {} : { authorization_servers: [baseUrl] }),
      scopes_supported: scopes,
      bearer_methods_supported: ['header'],
      resource_documentation: `${baseUrl}/api/v1/docs`,
    };
  }
}
