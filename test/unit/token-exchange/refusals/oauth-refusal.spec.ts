// What a refusal carries to the log and the audit trail.
import { inContext, OAuthRefusal } from '../../../../src/token-exchange/refusals/oauth-refusal.js';

it('[D21] a refusal gets context, and keeps its existing context', () => {
  const rejection = new OAuthRefusal('token_expired', { kid: 'own', detail: 'why' });
  rejection.add({ kid: 'k1', party: 'actor' });
  expect(rejection.reason).toBe('token_expired');
  expect(rejection.context).toEqual({ kid: 'own', detail: 'why', party: 'actor' });
  expect(rejection.message).toBe('token_expired: why');
});

it('[D21] a propagating refusal gets context too, and other errors are unchanged', () => {
  const rejection = new OAuthRefusal('kid_unknown');
  const context = { issuer: 'https://a.example', kid: 'k1' };
  expect(inContext(rejection, context)).toBe(rejection);
  expect(rejection.context).toEqual(context);
  const fault = new TypeError('fault');
  expect(inContext(fault, context)).toBe(fault);
});
