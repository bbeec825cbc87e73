// What a refusal carries to the log and the audit trail.
import { Rejection, withRejectionContext } from '../../../../src/token-exchange/refusals/rejection.js';

const thrown = (work: () => unknown) =>
  withRejectionContext({ issuer: 'https://a.example', kid: 'k1' }, work);

it('[D21] a refusal gets context, and keeps what it knows already', () => {
  const rejection = new Rejection('token_expired', { kid: 'own', detail: 'why' });
  rejection.add({ kid: 'k1', party: 'actor' });
  expect(rejection.reason).toBe('token_expired');
  expect(rejection.context).toEqual({ kid: 'own', detail: 'why', party: 'actor' });
  expect(rejection.message).toBe('token_expired: why');
});

it.each<[string, () => unknown]>([
  [
    'thrown',
    () => {
      throw new Rejection('kid_unknown');
    },
  ],
  ['of a promise', () => Promise.reject(new Rejection('kid_unknown'))],
])('[D21] work that ends with a refusal %s ends with its context', async (_, work) => {
  await expect(thrown(work)).rejects.toMatchObject({
    reason: 'kid_unknown',
    context: { issuer: 'https://a.example', kid: 'k1' },
  });
});

it('[D21] a fault of another kind stays what it is', async () => {
  const fault = new TypeError('fault');
  await expect(thrown(() => Promise.reject(fault))).rejects.toBe(fault);
});

it('[D21] work that succeeds keeps its result', async () => {
  await expect(thrown(() => 'result')).resolves.toBe('result');
});
