// JSON bodies: content type, text, members, and messages that name a member and its rule but never a value.
import 'reflect-metadata';
import { HttpException } from '@nestjs/common';
import {
  ChoiceField,
  EmailField,
  FlagField,
  IdField,
  ObjectArrayField,
  ObjectField,
  TextField,
} from '../../../../../src/workspace/api/body/field-rules.js';
import { JsonBodyPipe, readObject } from '../../../../../src/workspace/api/body/json-body.js';

class Body {
  @TextField({ description: '', max: 3 })
  readonly name!: string;

  @FlagField({ description: '', optional: true })
  readonly flag?: boolean;

  @IdField({ description: '', optional: true })
  readonly id?: string;

  @EmailField({ description: '', optional: true })
  readonly email?: string;

  @ChoiceField({ description: '', values: ['a', 'b'], optional: true })
  readonly choice?: string;

  @ObjectField({ description: '', optional: true })
  readonly object?: object;

  @ObjectArrayField({ description: '', optional: true })
  readonly list?: object[];
}

const pipe = new JsonBodyPipe();
const read = async (text: string | Buffer, contentType = 'application/json') => {
  const members = readObject({ 'content-type': contentType }, Buffer.from(text));
  return (await pipe.transform(members, { type: 'custom', metatype: Body })) as Body;
};

async function refusal(work: () => unknown): Promise<[number, string]> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof HttpException)) throw error;
    return [error.getStatus(), (error.getResponse() as { message: string }).message];
  }
  throw new Error('nothing was refused');
}

describe('a JSON body', () => {
  it('is parsed into its class, with its types', async () => {
    const members = { name: '\u{1F600}\u{FE0F}x', flag: false, object: { b: 1, a: [null] }, list: [{}] };
    const body = await read(JSON.stringify(members));
    expect(body).toBeInstanceOf(Body);
    expect({ ...body }).toEqual(members);
    expect(JSON.stringify(body.object)).toBe('{"b":1,"a":[null]}');
  });

  it('keeps free objects unchanged, whatever their properties are called', async () => {
    const free = '{"constructor":1,"prototype":{"constructor":{}},"__proto__":{"hasOwnProperty":null}}';
    const body = await read(`{"name":"a","object":${free},"list":[${free}]}`);
    expect(JSON.stringify(body)).toBe(`{"name":"a","object":${free},"list":[${free}]}`);
  });

  it.each(['', 'application/jsonp', 'application/merge-patch+json', 'text/plain, application/json'])(
    'cannot be %j: 415',
    async (type) => {
      const [status, told] = await refusal(() => read('{"name":"a"}', type));
      expect([status, told]).toEqual([415, 'Content-Type must be application/json']);
    },
  );

  it('must have a content type and a body', async () => {
    expect((await refusal(() => readObject({}, undefined)))[0]).toBe(415);
    expect(await refusal(() => readObject({ 'content-type': 'application/json' }, undefined))).toEqual([
      400,
      'The body cannot be read: not valid JSON',
    ]);
  });

  it('[B.parts] has at most 5,000 values and members', async () => {
    const withObjects = (count: number) =>
      read(JSON.stringify({ name: 'a', list: Array.from({ length: count }, () => ({})) }));
    expect((await withObjects(4_998)).list).toHaveLength(4_998);
    const [status, told] = await refusal(() => withObjects(4_999));
    expect([status, told]).toEqual([400, expect.stringContaining('5000 values and members')]);
  });

  it.each([
    ['{"name":"secret"', 'The body cannot be read: not valid JSON'],
    ['{"name":"a","n\\u0061me":"secret"}', 'The body cannot be read: a property is given twice'],
    [Buffer.from([0x7b, 0xff, 0x7d]), 'The body cannot be read: it is not UTF-8, but perhaps Windows-1252'],
    ['["secret"]', 'The body must be a JSON object'],
    ['{"name":"a","nmae":"secret"}', 'The body has an unknown property: nmae'],
    ['{"name":"a","a@secret.example":1}', 'The body has an unknown property: (not shown'],
    ['{"name":"a","__proto__":{"flag":true}}', 'The body has an unknown property: __proto__'],
    ['{"name":"a","constructor":"secret"}', 'The body has an unknown property: constructor'],
    ['{"name":"a\\u0000"}', 'name has characters that cannot be stored'],
    ['{"name":"a","object":{"\\ud800":1}}', 'object has characters that cannot be stored'],
    ['{"name":"a","object":{"n":1e999}}', 'object has a number that is too large'],
    ['{}', 'name must be a string of 1 to 3 characters'],
    ['{"name":""}', 'name must be a string of 1 to 3 characters'],
    ['{"name":"abcd"}', 'name must be a string of 1 to 3 characters'],
    ['{"name":"a\\ufe0f\\ufe0f\\ufe0f"}', 'name must be a string of 1 to 3 characters'],
    ['{"name":"a","flag":"true"}', 'flag must be a boolean value'],
    ['{"name":"a","id":"secret"}', 'id must be a UUID'],
    ['{"name":"a","email":"secret"}', 'email must be an e-mail address'],
    [`{"name":"a","email":"a@${'b.'.repeat(126)}example"}`, 'email must be an e-mail address'],
    ['{"name":"a","choice":"secret"}', 'choice must be one of the following values: a, b'],
    ['{"name":"a","object":[]}', 'object must be an object'],
    ['{"name":"a","list":{}}', 'list must be an array'],
    ['{"name":"a","list":["secret"]}', 'each value in list must be an object'],
  ])('is rejected without showing a value: %s', async (text, message) => {
    const [status, told] = await refusal(() => read(text));
    expect([status, told.slice(0, message.length)]).toEqual([400, message]);
    expect(told).not.toContain('secret');
  });
});
