// When two e-mail addresses are the same.
import { normalizeEmail } from '../../../src/users/user.repository.js';

it.each([
  ['ada@partner.example', 'ADA@PARTNER.EXAMPLE'],
  ['zoë@partner.example', 'zoe\u0308@partner.example'],
  ['zoë@partner.example', 'ZOE\u0308@partner.example'],
  ['kim@partner.example', '\u212aim@partner.example'],
  ['ǰ@partner.example', 'J\u030c@partner.example'],
  ['дима@partner.example', 'ДИМА@partner.example'],
  ['ada@xn--bcher-kva.example', 'Ada@BÜCHER.example'],
])('[D4] %s and %s are equal', (one, other) => expect(normalizeEmail(other)).toBe(normalizeEmail(one)));

it.each([
  ['ada@partner.example', 'ada@partner.example.org'],
  ['ada@partner.example', 'ada+1@partner.example'],
  ['ada@partner.example', 'аda@partner.example'],
  ['ada@partner.example', ' ada@partner.example'],
  ['ada@partner.example', 'ａda@partner.example'],
  ['ada@partner.example', 'ada@part\u00adner.example'],
])('[D4] %s and %j are different', (one, other) =>
  expect(normalizeEmail(other)).not.toBe(normalizeEmail(one)),
);

it('[D4] normalizing twice has no further effect', () => {
  for (let point = 0; point <= 0x1ffff; point++) {
    if (point >= 0xd800 && point <= 0xdfff) continue;
    const form = normalizeEmail(`x${String.fromCodePoint(point)}\u0307\u0323y`);
    if (normalizeEmail(form) !== form) throw new Error(`U+${point.toString(16)} has two forms`);
  }
});
