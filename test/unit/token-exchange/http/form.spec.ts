// How forms and query strings are read: one meaning only, and broken ones refused.
import { FlowRefusal } from '../../../../src/token-exchange/http/flow-refusal.js';
import { Form } from '../../../../src/token-exchange/http/form.js';

const fields = (encoded: Uint8Array | string) => {
  const form = Form.read(encoded);
  form.wellFormed();
  return Object.fromEntries(form.names.map((name) => [name, form.get(name)]));
};

function refusal(encoded: Uint8Array | string): FlowRefusal {
  try {
    Form.read(encoded).wellFormed();
  } catch (error) {
    if (error instanceof FlowRefusal) return error;
    throw error;
  }
  throw new Error('it was read');
}

describe('a form', () => {
  it.each<[string, Record<string, string>]>([
    ['', {}],
    ['a=b', { a: 'b' }],
    ['a=b&c=d', { a: 'b', c: 'd' }],
    ['a=', { a: '' }],
    ['a', { a: '' }],
    ['=b', { '': 'b' }],
    ['&a=b&&', { a: 'b' }],
    ['a=b=c', { a: 'b=c' }],
    ['a=b+c%20d%2Be', { a: 'b c d+e' }],
    ['a+b=c', { 'a b': 'c' }],
    ['a=%C3%A9%F0%9F%98%80', { a: 'é😀' }],
    ['a=%26%3D', { a: '&=' }],
    ['__proto__=a', JSON.parse('{"__proto__":"a"}') as Record<string, string>],
  ])('[4.2] is read: %j', (encoded, expected) => {
    expect(fields(encoded)).toEqual(expected);
    expect(fields(Buffer.from(encoded))).toEqual(expected);
  });

  it('[4.2] knows a field that is there from one that is not', () => {
    const form = Form.read('a=&b=1');
    expect([form.get('a'), form.get('c'), form.get('constructor')]).toEqual(['', undefined, undefined]);
  });
});

describe('what is ambiguous or broken', () => {
  it.each([
    ['a=1&a=1', 'a'],
    ['a=1&b=2&a=3', 'a'],
    ['a&a', 'a'],
    ['a=&a=1', 'a'],
    ['subject_token=1&subject%5Ftoken=2', 'subject_token'],
    ['a%20b=1&a+b=2', 'a b'],
  ])('[D16] a repeated parameter is refused and named: %s', (encoded, field) => {
    expect(refusal(encoded).message).toBe(
      `${/^\w+$/.test(field) ? field : 'a field'} must not be given more than once`,
    );
  });

  it.each(['a=%', 'a=%2', 'a=%zz', 'a=%u0041', 'a=1%', '%=1'])(
    '[D16] a broken escape is refused: %s',
    (encoded) => {
      expect(refusal(encoded).message).toMatch(/ is not valid form encoding$/);
    },
  );

  it.each(['a=%ff', 'a=%C3', 'a=%C0%AF', 'a=%ED%A0%80', 'a=%ED%B0%80', 'a=%F5%80%80%80', '%ff=1'])(
    '[D42] bytes that are not UTF-8, lone surrogates among them, are refused: %s',
    (encoded) => expect(refusal(encoded).message).toMatch(/ is not valid form encoding$/),
  );

  it('[D42] raw bytes that are not UTF-8 are refused', () => {
    expect(refusal(Uint8Array.of(0x61, 0x3d, 0xff)).message).toBe('the form is not UTF-8');
  });

  it.each(['a=%00', 'a=x%00y', 'a=\0', 'a%00=x', '%00=x'])('[D42] NUL is refused: %j', (encoded) => {
    expect(refusal(encoded).message).toMatch(/ must not contain NUL$/);
  });

  it('[D23] a message holds neither values nor strange names', () => {
    const marked = 'marker5150';
    const texts = [
      `a=${marked}&a=${marked}`,
      `a=${marked}%`,
      `a=${marked}%00`,
      `${marked.repeat(20)}=&`.repeat(2),
    ];
    texts.push(`<b>${marked}=1&<b>${marked}=2`, `${marked}%0a=1&${marked}%0a=2`, `${marked}%=1`);
    for (const text of texts) expect(refusal(text).message).not.toContain(marked);
  });
});
