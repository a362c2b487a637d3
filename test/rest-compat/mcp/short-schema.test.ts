import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { everyDoor } from '../../../rest-compat/every-door.ts';
import { shortMembers } from '../../../rest-compat/faces/mcp/short-schema.ts';
import { doorTools, type SchemaDetail } from '../../../rest-compat/faces/mcp/tool.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';

const tools = [...doorTools(everyDoor).values()];
const inputOf = (name: string, schemas: SchemaDetail) =>
  tools.find(tool => tool.name === name)?.entry(schemas).inputSchema as { readonly properties: JsonObject };

describe('the short schema of a tool', () => {
  it.each(tools.map(tool => [tool.name, tool] as const))('%s: allows whatever the full one allows', (_, tool) => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const full = tool.entry('full').inputSchema;
    const isFull = ajv.compile(full);
    const isShort = ajv.compile(tool.entry('short').inputSchema);
    let tried = 0;
    fc.assert(
      fc.property(valueFor(full), value => {
        if (!isFull(value)) return;
        tried++;
        isShort(value);
        expect(isShort.errors).toBeNull();
      }),
      { numRuns: 60 },
    );
    expect(tried).toBeGreaterThan(10);
  });

  it('is a third of the full one of the tools that took most', () => {
    for (const name of ['ingest_foreign_x402', 'chat_completions', 'create_message', 'count_message_tokens'])
      expect(bytesOf(inputOf(name, 'short')), name).toBeLessThan(0.42 * bytesOf(inputOf(name, 'full')));
  });

  it('lists members of a member, and of what is in those the type alone', () => {
    const { messages, svc } = inputOf('chat_completions', 'short').properties;
    expect(messages).toMatchObject({
      items: {
        properties: { role: { enum: expect.arrayContaining(['user', 'tool']) }, content: {} },
        required: ['role'],
      },
    });
    expect(svc).toMatchObject({ properties: { failover: { type: ['boolean', 'null'] } } });
  });

  it('leaves out other names, what is refused or without effect, and the proof that no model computes', () => {
    expect(inputOf('chat_completions', 'full').properties).toMatchObject({ logit_bias: {}, user: {} });
    expect(inputOf('chat_completions', 'short').properties).not.toHaveProperty('logit_bias');
    expect(inputOf('chat_completions', 'short').properties).not.toHaveProperty('user');
    expect(inputOf('like_post', 'full').properties).toHaveProperty('proof');
    expect(inputOf('like_post', 'short').properties).not.toHaveProperty('proof');
  });

  it('describes every argument and every member that it lists', () => {
    const missing = tools.flatMap(({ name, entry: shown }) => undescribed(shown('short').inputSchema, name));
    expect(missing).toEqual([]);
  });

  it('has the whole description of an argument', () => {
    for (const tool of tools) {
      const short = inputOf(tool.name, 'short').properties;
      for (const [name, shape] of Object.entries(inputOf(tool.name, 'full').properties)) {
        if (!isJsonObject(shape) || shape.description === undefined || !(name in short)) continue;
        expect(short[name], `${tool.name} ${name}`).toMatchObject({ description: shape.description });
      }
    }
  });
});

describe('the rule of short schemas', () => {
  it.each<[string, JsonObject, JsonObject]>([
    [
      'a text that may be null',
      { anyOf: [{ type: 'string', maxLength: 9 }, { type: 'null' }] },
      { type: ['string', 'null'] },
    ],
    [
      'words that may be null',
      {
        description: 'Kind.',
        anyOf: [{ type: 'string', enum: ['a', 'b'], description: 'All kinds.' }, { type: 'null' }],
      },
      { type: ['string', 'null'], description: 'Kind.', enum: ['a', 'b', null] },
    ],
    ['one word or any other text', { anyOf: [{ const: 'a', type: 'string' }, { type: 'string' }] }, { type: 'string' }],
    [
      'values that are described one by one',
      {
        anyOf: [
          { const: 'a', type: 'string', description: 'Always `a`. Opens it.' },
          { const: 'b', type: 'string', description: 'Always `b`. Ends it.' },
        ],
      },
      { type: 'string', description: '`a`: Opens it. `b`: Ends it.', enum: ['a', 'b'] },
    ],
    [
      'values that are only named',
      {
        anyOf: [
          { const: 'a', type: 'string', description: 'Always `a`.' },
          { const: 'b', type: 'string', description: 'Always `b`, or left out.' },
        ],
      },
      { type: 'string', description: 'One of `a`, `b`.', enum: ['a', 'b'] },
    ],
    [
      'texts of which one is only named',
      {
        anyOf: [
          { enum: ['a', 'b'], type: 'string', description: 'Author.' },
          { const: 'c', type: 'string', description: 'Always `c`.' },
          { type: 'null' },
        ],
      },
      { type: ['string', 'null'], description: 'Author. Also `c`.', enum: ['a', 'b', 'c', null] },
    ],
    ['a number within bounds', { type: 'integer', minimum: 1, maximum: 2 ** 53 - 1 }, { type: 'integer', minimum: 1 }],
    [
      'a number or a text',
      { anyOf: [{ type: 'number', minimum: 1 }, { type: 'string' }] },
      { type: ['number', 'string'] },
    ],
    ['anything', { anyOf: [{}, { type: 'string' }] }, {}],
    ['a reference', { $ref: '#/$defs/it', description: 'That.' }, { description: 'That.' }],
    ['a tuple', { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'null' } }, { type: 'array' }],
    [
      'a member that one of two open objects does not list is of any type',
      {
        oneOf: [
          {
            type: 'object',
            properties: { a: { const: 1 }, b: { type: 'string', description: 'B.' } },
            required: ['a', 'b'],
          },
          { type: 'object', properties: { a: { const: 2 } }, required: ['a'] },
        ],
      },
      { type: 'object', properties: { a: { enum: [1, 2] }, b: { description: 'B.' } }, required: ['a'] },
    ],
    [
      'a member that one of two closed objects does not list keeps its type',
      {
        oneOf: [
          { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false },
          { type: 'object', properties: {}, additionalProperties: false },
        ],
      },
      { type: 'object', properties: { a: { type: 'string' } } },
    ],
  ])('%s', (_, shape, short) => {
    expect(shortMembers({ it: shape })).toEqual({ it: short });
  });

  it('a member shaped like one before it is listed by its type', () => {
    const shape = (description: string) => ({ description, type: 'object', properties: { a: { type: 'string' } } });
    expect(shortMembers({ one: shape('One.'), other: shape('Another name of one.') })).toEqual({
      one: { type: 'object', description: 'One.', properties: { a: { type: 'string' } } },
      other: { type: 'object', description: 'Another name of one.' },
    });
  });
});

function undescribed({ properties, items }: JsonObject, at: string): readonly string[] {
  const members = isJsonObject(properties) ? Object.entries(properties) : [];
  const missing = members.flatMap(([name, shape]) => {
    if (!isJsonObject(shape)) return [`${at}.${name}`];
    return [...(shape.description === undefined ? [`${at}.${name}`] : []), ...undescribed(shape, `${at}.${name}`)];
  });
  return isJsonObject(items) ? [...missing, ...undescribed(items, `${at}[]`)] : missing;
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

const anything: fc.Arbitrary<Json> = fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<Json>;

/** Mostly what a schema allows; the test sorts the others out. */
function valueFor(shape: Json | undefined): fc.Arbitrary<Json> {
  if (!isJsonObject(shape)) return anything;
  const { anyOf = shape.oneOf, enum: values = 'const' in shape ? [shape.const ?? null] : undefined, type } = shape;
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map(valueFor));
  if (Array.isArray(values)) return fc.constantFrom(...(values as Json[]));
  if (Array.isArray(type)) return fc.oneof(...type.map(one => valueFor({ ...shape, type: one })));
  return typeof type === 'string' ? (makers[type]?.(shape) ?? anything) : anything;
}

const makers: Readonly<Record<string, (shape: JsonObject) => fc.Arbitrary<Json>>> = {
  null: () => fc.constant(null),
  boolean: () => fc.boolean(),
  string: ({ pattern, minLength = 0, maxLength = 1_000 }) => {
    if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern));
    return fc.string({ minLength: Number(minLength), maxLength: Math.min(Number(maxLength), Number(minLength) + 5) });
  },
  integer: ({ minimum = -9, maximum = Number(minimum) + 9 }) =>
    fc.integer({ min: Math.max(Number(minimum), -(2 ** 31)), max: Math.min(Number(maximum), 2 ** 31 - 1) }),
  number: ({ minimum = -9, maximum = Number(minimum) + 9 }) =>
    fc.double({ min: Number(minimum), max: Number(maximum), noNaN: true }),
  array: ({ items, prefixItems, minItems = 0 }) => {
    if (Array.isArray(prefixItems)) return fc.tuple(...prefixItems.map(valueFor)) as fc.Arbitrary<Json>;
    return fc.array(valueFor(items), { minLength: Number(minItems), maxLength: Number(minItems) + 2 });
  },
  object: ({ properties = {}, required = [], additionalProperties = true }) => {
    const members = Object.fromEntries(
      Object.entries(properties as JsonObject).map(([name, it]) => [name, valueFor(it)]),
    );
    const listed = fc.record(members, { requiredKeys: required as string[] }) as fc.Arbitrary<JsonObject>;
    // What no form lists, and what another form of the same value lists.
    const others = fc.dictionary(fc.constantFrom('unlisted', 'tool_calls', 'content', 'url'), anything, { maxKeys: 1 });
    if (additionalProperties === false) return listed;
    return fc.tuple(others, listed).map(([more, known]) => ({ ...more, ...known }) as JsonObject);
  },
};
