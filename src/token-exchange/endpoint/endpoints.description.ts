// Describes the endpoints in OpenAPI, as plain values: the host publishes them with its own description.
import { TOKEN_EXCHANGE } from '../exchange/token-exchange.description.js';
import { EXPLANATION } from '../explain/explain.controller.js';
import { TOKEN_INTROSPECTION } from '../introspection/token-introspection.controller.js';
import { BOUND_EMBED_POST, EMBED_GET, EMBED_POST } from '../login/embed-login.description.js';
import { BACK_CHANNEL_LOGOUT } from '../logout/back-channel-logout.controller.js';
import { TOKEN_REVOCATION } from '../revocation/token-revocation.description.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { RECEIVED_EVENTS } from '../signals/events.controller.js';
import {
  EMBED_PATH,
  EVENTS_PATH,
  EXPLAIN_PATH,
  INTROSPECTION_PATH,
  loginMethods,
  LOGOUT_PATH,
  REVOCATION_PATH,
  TOKEN_PATH,
} from './paths.js';

/** The entries of an OpenAPI document's `paths` for every endpoint, with its methods. */
export function endpointDescriptions(
  options: Pick<TokenExchangeOptions, 'strict'> & { readonly hasBoundSessions: boolean },
) {
  const hasGet = loginMethods(options).includes('GET');
  const post = options.hasBoundSessions ? BOUND_EMBED_POST : EMBED_POST;
  return {
    [TOKEN_PATH]: { post: TOKEN_EXCHANGE },
    [REVOCATION_PATH]: { post: TOKEN_REVOCATION },
    [INTROSPECTION_PATH]: { post: TOKEN_INTROSPECTION },
    [LOGOUT_PATH]: { post: BACK_CHANNEL_LOGOUT },
    [EVENTS_PATH]: { post: RECEIVED_EVENTS },
    [EXPLAIN_PATH]: { post: EXPLANATION },
    [EMBED_PATH]: { post, ...(hasGet && { get: EMBED_GET }) },
  };
}
