import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalHash } from '../../../../schema/canonical-json.ts';
import { taskId } from '../../../../schema/ids.ts';
import { ChatRequest } from '../../../../schema/requests/chat-completion.ts';
import { parseRequest } from '../../../../schema/requests/parse.ts';
import { systemClock } from '../../../../subgraphs/clock.ts';
import type { Context } from '../../../../subgraphs/context.ts';
import { readRequest } from '../../../../subgraphs/graph-type.ts';
import { candidatesFor, offeredModels } from '../../../../subgraphs/receipt/inference/catalogue.ts';
import { completionPaid } from '../../../../subgraphs/receipt/inference/completions/completion.paid.ts';
import { openHubs } from '../../../../subgraphs/receipt/inference/hubs/open.ts';
import { inputOfBody } from '../../../harness/doors/graph-input.ts';
import { answerWith, completion, openHubServer } from '../../../harness/receipt/inference/hub-server.ts';

const settings = [
  { name: 'alpha', base_url: 'http://127.0.0.1:1/v1', api_key: 'a', models: ['big', 'small'] },
  { name: 'beta', base_url: 'http://127.0.0.1:1/v1', api_key: 'b', models: ['small', 'tiny'] },
];
const messages = [{ role: 'user', content: 'Hi' }];
const payer = { network: 'base', wallet: '0x0' } as const;
// The declaration reads only the clock of the context.
const context = { clock: { now_ms: () => 1_790_000_000_999 } } as Context;
const bounds = { until_ms: Number.MAX_SAFE_INTEGER, allowed_models: null };

describe('the catalogue', () => {
  it('svc/auto is a live route on each hub in turn, an id every hub that serves it', () => {
    expect(candidatesFor(settings, 'svc/auto')).toEqual([
      { hub: 'alpha', model: 'big' },
      { hub: 'beta', model: 'small' },
    ]);
    expect(candidatesFor(settings, 'small').map(({ hub }) => hub)).toEqual(['alpha', 'beta']);
    expect(candidatesFor(settings, 'nobody')).toEqual([]);
  });

  it('every offered id can be resolved, and each stands once', () => {
    const offered = offeredModels(settings);
    expect(offered.map(({ id }) => id)).toEqual(['svc/auto', 'big', 'small', 'tiny']);
    for (const { id, hubs } of offered) expect(candidatesFor(settings, id).map(({ hub }) => hub)).toEqual(hubs);
  });
});

describe('a chat request', () => {
  const request = fc.record(
    {
      model: fc.constantFrom('svc/auto', 'small'),
      messages: fc.array(
        fc.record({ role: fc.constantFrom('system', 'user', 'assistant'), content: fc.string({ unit: 'grapheme' }) }),
        { minLength: 1, maxLength: 4 },
      ),
      max_tokens: fc.option(fc.integer({ min: 1, max: 2 ** 31 - 1 })),
      temperature: fc.option(fc.double({ min: 0, max: 2, noNaN: true })),
      intent_id: fc.option(fc.stringMatching(/^[a-z0-9-]{1,20}$/)),
      attempt_index: fc.option(fc.nat()),
      stream: fc.option(fc.boolean()),
      stream_options: fc.option(fc.record({ include_usage: fc.option(fc.boolean()) }, { requiredKeys: [] })),
      svc: fc.option(fc.record({ failover: fc.option(fc.boolean()) }, { requiredKeys: [] })),
    },
    { requiredKeys: ['messages'] },
  );

  it('is the same canonical arguments by REST and by GraphQL', () => {
    fc.assert(
      fc.property(request, body => {
        const { valid, input } = inputOfBody('chat_completions', body);
        expect(canonicalHash(readRequest(ChatRequest, input))).toBe(canonicalHash(valid));
      }),
    );
  });

  it('has options of a stream where it is one, and only there: they are part of what is paid for', () => {
    const parsed = (members: object) => parseRequest(ChatRequest, { messages, ...members });
    const include_usage = { stream_options: { include_usage: true } };
    expect(parsed(include_usage)).toEqual(parsed({}));
    expect(parsed({})).not.toHaveProperty('stream_options');
    expect(parsed({ stream: true })).toEqual(parsed({ stream: true, stream_options: null }));
    expect(parsed({ stream: true, ...include_usage })).toMatchObject(include_usage);
    expect(canonicalHash(parsed({ stream: true }))).not.toBe(canonicalHash(parsed({ stream: true, ...include_usage })));
  });

  it('that asks for no failover is another one; one that says the usual is not', () => {
    const hash = (svc: unknown) => canonicalHash(parseRequest(ChatRequest, { messages, svc }));
    expect(new Set([undefined, null, {}, { failover: null }, { failover: true }].map(hash)).size).toBe(1);
    expect(hash({ failover: false })).not.toBe(hash({}));
  });

  it.each([
    [{ messages: [] }, 'messages'],
    [{ messages, svc: { failover: 'no' } }, 'svc.failover'],
    [{ messages: [{ role: 'tool', content: '' }] }, 'messages.0.tool_call_id'],
    [{ messages: [{ role: 'function', content: '' }] }, 'messages.0.role'],
    [{ messages: [{ role: 'user' }] }, 'messages.0.content'],
    [{ messages: [{ role: 'user', content: '\udc00' }] }, 'messages.0.content'],
    [{ messages, temperature: 2.1 }, 'temperature'],
    [{ messages, max_tokens: 0 }, 'max_tokens'],
    [{ messages, attempt_index: -1 }, 'attempt_index'],
    [{ messages, intent_id: 'x'.repeat(129) }, 'intent_id'],
    [{ messages, stream: 'yes' }, 'stream'],
  ])('%j is refused, naming %s', (body, param) => {
    expect(() => parseRequest(ChatRequest, body)).toThrow(
      expect.objectContaining({ code: 'invalid_request', extensions: expect.objectContaining({ param }) }),
    );
  });
});

describe('Mutation.createChatCompletion', () => {
  it('refuses an unknown model and a stream before the claim: that is another field', async () => {
    const paid = completionPaid(openHubs(settings, { clock: systemClock }));
    const refused = (body: object) => paid.admit?.(parseRequest(ChatRequest, { messages, ...body }), payer, context);
    await expect(refused({ model: 'nobody' })).rejects.toMatchObject({ code: 'unknown_model', status: 400 });
    await expect(refused({ stream: true })).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(refused({ model: 'tiny' })).resolves.toBeUndefined();
  });

  it('commits to its choices, discloses the route, and its answer survives being stored', async () => {
    await using server = await openHubServer(answerWith(completion));
    const hubs = openHubs([{ name: 'one', base_url: server.base_url, api_key: 'k', models: ['m'] }], {
      clock: systemClock,
    });
    const task_id = taskId(1, new Uint8Array(10));
    const request = parseRequest(ChatRequest, { messages, intent_id: 'i', attempt_index: 2 });
    const paid = completionPaid(hubs);
    const work = await paid.work(request, task_id, context, bounds);
    await hubs.close();
    expect(work.route).toMatchObject({ hub: 'one', model: 'm', answered_model: 'another-name' });
    expect(work.output_covers).toEqual(['choices']);
    expect(work.answer).toMatchObject({ id: `chatcmpl-${task_id}`, created: 1_790_000_000, model: 'm', hub: 'one' });
    expect(work.output_sha256).toBe(canonicalHash(work.answer.choices));
    expect(JSON.parse(JSON.stringify(work.answer))).toEqual(work.answer);
    expect(paid.intent?.(request)).toEqual({ intent_id: 'i', attempt_index: 2, parent_ref: null });
  });

  it('no hub answers: hub_failed, with every attempt named', async () => {
    const paid = completionPaid(openHubs(settings, { clock: systemClock }));
    const work = paid.work(parseRequest(ChatRequest, { messages }), taskId(1, new Uint8Array(10)), context, bounds);
    await expect(work).rejects.toMatchObject({
      code: 'hub_failed',
      extensions: {
        attempts: [
          { hub: 'alpha', reason: 'unreachable' },
          { hub: 'beta', reason: 'unreachable' },
        ],
      },
    });
  });
});
