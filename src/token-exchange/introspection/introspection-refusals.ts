// Why a client may not introspect.
import type { TokenRefusal } from '../refusals/refusal.js';

export const INTROSPECTION_REFUSALS = {
  introspection_not_allowed: {
    check: 'client',
    cause: 'no active entry lets the client introspect',
    remedy: 'allow it (`svc-admin clients add --introspect`)',
    oauth: { status: 403, error: 'unauthorized_client', message: 'The client may not introspect tokens' },
  },
} satisfies Record<string, TokenRefusal>;
