// What log and trail show of the `sub` of a job.
import { shownPatterns, shownSubject } from '../../../../src/token-exchange/verify/party-checks.js';

it.each([
  ['repo:acme@123456/flows@456789:ref:refs/heads/main', 'repo:acme@123456/flows@456789:ref:refs/heads/main'],
  ['system:serviceaccount:ci:deployer', 'system:serviceaccount:ci:deployer'],
  ['job\n1', 'job\\u{a}1'],
  ['j'.repeat(300), 'j'.repeat(255)],
])('[D145] %j is shown as %j', (sub, shown) => {
  expect(shownSubject(sub)).toBe(shown);
});

it.each([
  'jane@product.example',
  'user:jane@product.example',
  'repo:acme/jane@product.example:ref',
  'auth0|jane@product.example',
  'runner, jane@product.example',
])('[D145] of %s no address is shown', (sub) => {
  expect(shownSubject(sub)).not.toMatch(/jane|product/);
});

it('[D145] of many patterns three are shown', () => {
  expect(shownPatterns(new Set(['a', 'b:*', 'c', 'd', 'e']))).toBe('a, b:*, c and 2 more');
});
