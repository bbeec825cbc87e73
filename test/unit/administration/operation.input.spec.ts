// What the readers of inputs take and refuse.
import { InputError, inputOf, readNothing } from '../../../src/administration/operation.js';
import { emailAddress, oneOf, storableString } from '../../../src/platform/input/schemas.js';

const read = inputOf({ text: storableString(), word: oneOf(['a', 'b']) });
const brokenRule = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    if (error instanceof InputError) return `${error.member} ${error.rule}`;
    throw error;
  }
  return undefined;
};

describe('an input', () => {
  it.each([
    [undefined, 'The input must be an object'],
    [[], 'The input must be an object'],
    [{ text: '', word: 'a', more: 1 }, 'The input has an unknown property; known are text, word'],
    [{ word: 'a' }, 'text is needed'],
    [{ text: 1, word: 'a' }, 'text must be a text'],
    [{ text: '\ud800', word: 'a' }, 'text has characters that cannot be stored'],
    [{ text: 'a\0', word: 'a' }, 'text has characters that cannot be stored'],
    [{ text: '', word: 'constructor' }, 'word must be one of a, b'],
  ])('%j is rejected: %s', (input, rule) => {
    expect(brokenRule(() => read(input))).toBe(rule);
  });

  it('without properties is rejected if it has any, by any name', () => {
    const rule = 'The input has an unknown property; known are none';
    expect(brokenRule(() => readNothing(JSON.parse('{"__proto__":1}')))).toBe(rule);
  });
});

describe('an e-mail address', () => {
  it.each([1, '', 'a', 'a@b.example\0', { toString: () => 'a@b.example' }])('is rejected: %j', (value) => {
    expect(emailAddress().safeParse(value).error?.issues).toMatchObject([
      { message: 'must be an e-mail address' },
    ]);
  });
});
