import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '../../../../schema/canonical-json.ts';
import { Secret } from '../../../../schema/secret.ts';
import type { Piece } from '../../../../subgraphs/piece.ts';
import { chatQuestion } from '../../../../subgraphs/receipt/inference/hubs/chat.ts';
import { type HubRoute, type Hubs, openHubs } from '../../../../subgraphs/receipt/inference/hubs/open.ts';
import { openScriptedHub } from '../../../harness/receipt/inference/scripted-hub.ts';
import { atEnd } from '../../../harness/release.ts';

/*
 * For any JSON that a hub sends, whole or streamed: only known members are passed on, and no secret appears outside of the model's own
 * text.
 */

const KEY = 'k3y_of_one_4f1b7c9d02aa';
const OTHER = 'https://models-of-two.example:8443/tenant-51aa77/v1';
const ROUTER_KEY = 'sk_of_the_caller_77aa01';
const ours = [KEY, 'sk-two-9d02aa4f1b7c', OTHER, 'models-of-two.example', ROUTER_KEY];
const needles = [...ours, 'org-abcdef0123456789', 'proj_abcdef0123456789', `sk-or-v1-${'0a1b2c3d'.repeat(8)}`];

let hubs: Hubs;
let body = '';
const asking = (hub: string, model: string): HubRoute => ({
  candidates: [{ hub, model }],
  until_ms: Date.now() + 60_000,
  ...(hub === 'router' && { router_key: new Secret(ROUTER_KEY) }),
});

beforeAll(async () => {
  const base_url = await openScriptedHub(({ stream }, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' }).end(body);
  });
  const one = { name: 'one', base_url, api_key: KEY, models: ['some/model'] };
  const two = { name: 'two', base_url: OTHER, api_key: 'sk-two-9d02aa4f1b7c', models: ['two/model'] };
  const router = { base_url, models: ['some/model'] };
  hubs = openHubs([one, two], { clock: { now_ms: () => Date.now() }, router });
  atEnd(() => hubs.close());
});

const needle = fc.constantFrom(...needles);
const word = fc.oneof(
  { weight: 3, arbitrary: needle },
  fc.string({ maxLength: 8 }),
  fc.tuple(fc.string({ maxLength: 4 }), needle).map(texts => texts.join(' ')),
);
const leaf = fc.oneof(word, fc.integer(), fc.double(), fc.boolean(), fc.constant(null));
const known = fc.constantFrom(
  'id',
  'type',
  'model',
  'name',
  'text',
  'signature',
  'data',
  'note',
  'index',
  'cached_tokens',
);
const { json } = fc.letrec<{ json: Json }>(tie => ({
  json: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf as fc.Arbitrary<Json>,
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(word, known), tie('json'), { maxKeys: 4 }) as fc.Arbitrary<Json>,
  ),
}));
const members = fc.dictionary(fc.oneof(word, known), json, { maxKeys: 4 }) as fc.Arbitrary<JsonObject>;

/** The given value with any additional members. */
const beside = <T extends object>(arbitrary: fc.Arbitrary<T>) =>
  fc.tuple(members, arbitrary).map(([more, needed]) => ({ ...more, ...needed }));

const call = beside(
  fc.record({
    index: fc.constant(0),
    id: fc.oneof(word, fc.constant('call_1')),
    function: beside(fc.record({ name: fc.oneof(fc.constant('weather'), word), arguments: fc.constant('{}') })),
  }),
);
const spoken = beside(
  fc.record(
    {
      role: fc.constant('assistant'),
      content: fc.oneof(fc.constant('Sunny'), word),
      tool_calls: fc.array(call, { maxLength: 1 }),
      reasoning: word,
      reasoning_details: fc.oneof(json, fc.array(members, { maxLength: 2 })),
    },
    { requiredKeys: ['role', 'content'] },
  ),
);
const usage = beside(fc.record({ prompt_tokens: fc.constant(3), completion_tokens: fc.constant(1) }));
const finish_reason = fc.oneof(fc.constantFrom('stop', 'length', 'tool_calls'), word);
const whole = beside(
  fc.record({
    choices: beside(fc.record({ message: spoken, finish_reason })).map(choice => [choice]),
    usage: fc.oneof(fc.constant(null), usage),
  }),
).map(({ error: _, ...answer }: JsonObject) => answer);

const chunks = fc
  .tuple(fc.array(spoken, { minLength: 1, maxLength: 3 }), finish_reason, usage, members)
  .map(([deltas, reason, counted, more]) => [
    ...deltas.map(delta => ({ ...more, error: null, choices: [{ ...more, index: 0, delta, finish_reason: null }] })),
    { ...more, error: null, choices: [{ index: 0, delta: {}, finish_reason: reason }], usage: counted },
  ]);

const request = {
  messages: [{ role: 'user', content: 'What is the weather?' }],
  max_tokens: null,
  temperature: null,
  tools: [{ type: 'function', function: { name: 'weather' } }],
};

const CONTENT = new Set(['content', 'refusal', 'reasoning', 'reasoning_content', 'arguments', 'text', 'summary']);
/** Names of all members, and every value that is not content. Within an encrypted value only our own secrets could be recognised. */
function besideContent(value: Json): string[] {
  if (typeof value !== 'object' || value === null) return [String(value)];
  if (Array.isArray(value)) return value.flatMap(besideContent);
  return Object.entries(value).flatMap(([name, member]) => {
    if (typeof member === 'string' && CONTENT.has(name)) return [name];
    const is_sealed = typeof member === 'string' && (name === 'signature' || name === 'data');
    if (is_sealed && !ours.some(secret => member.toLowerCase().includes(secret.toLowerCase()))) return [name];
    return [name, ...besideContent(member)];
  });
}

/** Secrets that a hub may not show. Only the hub that is called with a caller's key can contain that key. */
const needlesOf = (hub: string) => needles.filter(each => hub === 'router' || each !== ROUTER_KEY);

function expectNoNeedle(hub: string, value: unknown): void {
  const told = besideContent(JSON.parse(JSON.stringify(value)))
    .join('\n')
    .toLowerCase();
  for (const each of needlesOf(hub)) expect(told).not.toContain(each.toLowerCase());
}

const names = (value: object | null | undefined) => Object.keys(value ?? {});
const MESSAGE = ['role', 'content', 'tool_calls', 'refusal', 'reasoning_content', 'reasoning', 'reasoning_details'];
function expectKnown(message: JsonObject): void {
  expect(MESSAGE).toEqual(expect.arrayContaining(names(message)));
  for (const one of (message.tool_calls ?? []) as JsonObject[]) {
    expect(names(one).sort()).toEqual(['function', 'id', 'type']);
    expect(names(one.function as JsonObject).sort()).toEqual(['arguments', 'name']);
  }
}

function expectCounts(usage: Json): void {
  expect(usage === null || ['number', 'boolean'].includes(typeof usage) || isJsonObject(usage)).toBe(true);
  for (const [name, count] of Object.entries(isJsonObject(usage) ? usage : {})) {
    expect(name).toMatch(/^[a-z][a-z0-9_]{0,63}$/);
    expectCounts(count);
  }
}

describe.each([
  ['a hub', 'one', 'some/model'],
  ['the router, under its caller’s own key', 'router', 'router/some/model'],
])('what %s says', (_, hub, model) => {
  it('whole', async () => {
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(whole, async answer => {
        body = JSON.stringify(answer);
        const outcome = await hubs.put(chatQuestion(request), asking(hub, model));
        if (outcome.kind === 'failed') return;
        answered++;
        const { value, answered_model } = outcome;
        expect(names(value).sort()).toEqual(['choices', 'usage']);
        for (const choice of value.choices) {
          expect(names(choice).sort()).toEqual(['finish_reason', 'index', 'message']);
          expectKnown(choice.message);
        }
        expectCounts(value.usage);
        expectNoNeedle(hub, [value, answered_model]);
      }),
    );
    expect(answered).toBeGreaterThan(20);
  });

  it('streamed', async () => {
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(chunks, async events => {
        body = `${events.map(event => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`;
        const outcome = await hubs.stream(request, asking(hub, model));
        if (outcome.kind === 'failed') return;
        answered++;
        const pieces: Piece[] = [];
        for await (const piece of outcome.listening.pieces) pieces.push(piece);
        const { message, finish_reason, usage, answered_model } = outcome.listening.reply();
        expectKnown(message);
        expectCounts(usage);
        const beside = pieces.filter(piece => typeof piece !== 'string');
        expectNoNeedle(hub, [beside, message, finish_reason, usage, answered_model]);
      }),
    );
    expect(answered).toBeGreaterThan(20);
  });
});

it('the router lists no model whose id holds a key or a place of a hub, or a key that looks like one', async () => {
  const hidden = [KEY, 'models-of-two.example', `sk-or-v1-${'0a1b2c3d'.repeat(8)}`].map(id => ({ id }));
  body = JSON.stringify({ data: [...hidden, { id: 'vendor/model' }] });
  expect((await hubs.routerModels()).ids).toEqual(['router/vendor/model']);
});
