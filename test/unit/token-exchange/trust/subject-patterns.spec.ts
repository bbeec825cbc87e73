// Which subjects a pattern means, and which texts are patterns.
import {
  leavesAccountOpen,
  matchesSubject,
  subjectPatternOf,
} from '../../../../src/token-exchange/trust/subject-patterns.js';

const MAIN = 'repo:acme/app:ref:refs/heads/main';

it.each<[string, string, boolean]>([
  [MAIN, MAIN, true],
  [MAIN, `${MAIN}2`, false],
  [MAIN, MAIN.toUpperCase(), false],
  [MAIN, MAIN.replace('acme', 'Acme'), false],
  ['repo:acme/*:ref:refs/heads/main', MAIN, true],
  ['repo:acme/*:ref:refs/heads/main', 'repo:acme/:ref:refs/heads/main', false],
  ['repo:acme/*', MAIN, false],
  ['repo:acme/app:*', MAIN, false],
  ['repo:acme/app:*', 'repo:acme/app:pull_request', true],
  ['repo:*:ref:refs/heads/main', MAIN, false],
  ['repo:acme/app:ref:refs/heads/*', MAIN, true],
  ['repo:acme/app:ref:refs/heads/*', 'repo:acme/app:ref:refs/heads/release/1', false],
  ['repo:acme/app:ref:refs/heads/release-*', 'repo:acme/app:ref:refs/heads/release-1.2', true],
  ['repo:acme/app:ref:refs/heads/release-*', 'repo:acme/app:ref:refs/heads/release-', false],
  ['repo:acme/app:ref:refs/heads/*-fix', 'repo:acme/app:ref:refs/heads/-fix', false],
  ['repo:acme/app:ref:refs/heads/r*r', 'repo:acme/app:ref:refs/heads/rr', false],
  ['repo:acme@*/app@*:ref:refs/heads/main', 'repo:acme@12/app@34:ref:refs/heads/main', true],
  ['repo:acme@*/app@*:ref:refs/heads/main', 'repo:acme-evil@12/app@34:ref:refs/heads/main', false],
  // What parts two segments is not left open either.
  ['a:b', 'a/b', false],
  ['*:*', 'a/b', false],
  ['a::b', 'a::b', true],
  ['a:*:b', 'a::b', false],
  ['*', 'job', true],
  ['*', '', false],
  // No character of a pattern has another meaning.
  ['a.c', 'abc', false],
  ['[a-z]+', 'abc', false],
  ['a?', 'ab', false],
])('[P.subjects] the pattern %s and the subject %s: %s', (pattern, sub, isMatch) => {
  expect(matchesSubject(new Set(['another', pattern]), sub)).toBe(isMatch);
});

it('[P.subjects] takes time in proportion to the subject, whatever the pattern', () => {
  const pattern = Array.from({ length: 60 }, () => 'a*a').join(':');
  const sub = Array.from({ length: 60 }, () => 'aaaa')
    .join(':')
    .slice(0, -1);
  const began = performance.now();
  for (let count = 0; count < 100; count += 1) matchesSubject(new Set([pattern]), `${sub}b`);
  expect(performance.now() - began).toBeLessThan(500);
});

it.each<[string, boolean]>([
  ['repo:acme/*:ref:*', true],
  ['a*b*c', false],
  ['**', false],
  ['', false],
  ['x'.repeat(255), true],
  ['x'.repeat(256), false],
  ['nul\0', false],
])('[P.subjects] %j is a pattern: %s', (text, isOne) => {
  expect(subjectPatternOf(text) === text).toBe(isOne);
});

it.each<[string, boolean]>([
  ['repo:acme/*:ref:refs/heads/main', false],
  ['repo:acme@*/app@*:ref:refs/heads/main', false],
  ['system:serviceaccount:*:deployer', false],
  ['repo:*/app:ref:refs/heads/main', true],
  ['repo:acme*/app:ref:refs/heads/main', true],
  ['*:acme/app', true],
  ['job-*', true],
])('[P.subjects] %s leaves the account open: %s', (pattern, isOpen) => {
  expect(leavesAccountOpen(pattern)).toBe(isOpen);
});
