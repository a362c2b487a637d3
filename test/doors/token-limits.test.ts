import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type HubHabit, refusals } from '../../gateway/development/hub/habits.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { ask, CHAT, openService, type Service } from '../harness/doors/open-service.ts';
import { completion, type HubServer, openHubServer } from '../harness/receipt/inference/hub-server.ts';
import { atEnd } from '../harness/release.ts';

/* A caller may name the limit on tokens in either way. The model gets it under the name that it accepts. */

type Member = 'max_tokens' | 'max_completion_tokens';
const other = { max_tokens: 'max_completion_tokens', max_completion_tokens: 'max_tokens' } as const;

let service: Service;
let hub: HubServer;
/** The only name that the model accepts. */
let taken: Member;
/** Answer to a request with the accepted name or without one, instead of a completion. */
let then: HubHabit | null = null;

beforeAll(async () => {
  hub = await openHubServer(response => {
    const body = hub.received.at(-1)?.body as JsonObject;
    if (other[taken] in body) {
      const refusal = refusals['dev/refuses-max-tokens'];
      const text = refusal.body.replaceAll('max_tokens', other[taken]);
      return void response.writeHead(refusal.status, { 'content-type': 'application/json' }).end(text);
    }
    if (then) return void response.writeHead(then.status, { 'content-type': 'application/json' }).end(then.body);
    if (body.stream !== true) return void response.writeHead(200).end(JSON.stringify(completion));
    const chunk = { choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: 'stop' }] };
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  });
  atEnd(() => hub[Symbol.asyncDispose]());
  const models = ['one', 'two', 'three', 'four', 'told', 'thinks'].map(name => `some/${name}`);
  const { base_url } = hub;
  const token_limit_members = { 'some/told': 'max_completion_tokens' };
  const settings = {
    name: 'hub',
    base_url,
    api_key: 'k',
    models,
    reasoning_models: ['some/thinks'],
    token_limit_members,
  };
  service = await openService({ HUBS: JSON.stringify([settings]) });
});
beforeEach(() => {
  hub.received.length = 0;
  taken = 'max_tokens';
  then = null;
});

const limitsAtHub = () =>
  hub.received.map(({ body }) => {
    const { max_tokens, max_completion_tokens } = body as JsonObject;
    return { max_tokens, max_completion_tokens };
  });
async function chat(model: string, members: JsonObject) {
  const payment = await service.payment(await service.chain.newWallet(), CHAT);
  const answer = await fetch(service.url + CHAT, {
    method: 'POST',
    headers: { ...payment, 'content-type': 'application/json' },
    body: JSON.stringify(ask('Hello', { model: `some/${model}`, ...members })),
  });
  const text = await answer.text();
  return { status: answer.status, body: answer.ok ? {} : JSON.parse(text) };
}

describe.each([
  ['whole', false],
  ['as a stream', true],
] as const)('POST /v1/chat/completions, %s', (_, stream) => {
  const bound = (name: Member | 'max_output_tokens') => ({ [name]: 30, stream });

  it.each(['max_tokens', 'max_completion_tokens', 'max_output_tokens'] as const)(
    '%s reaches a model as max_tokens, and one that reasons as max_completion_tokens',
    async name => {
      expect((await chat('one', bound(name))).status).toBe(200);
      taken = 'max_completion_tokens';
      expect((await chat('thinks', bound(name))).status).toBe(200);
      expect((await chat('told', bound(name))).status).toBe(200);
      expect(limitsAtHub()).toEqual([{ max_tokens: 30 }, { max_completion_tokens: 30 }, { max_completion_tokens: 30 }]);
    },
  );

  it('a model that refuses the one is asked by the other, once, and by that from then on', async () => {
    const model = stream ? 'two' : 'three';
    taken = 'max_completion_tokens';
    expect((await chat(model, bound('max_tokens'))).status).toBe(200);
    expect((await chat(model, bound('max_tokens'))).status).toBe(200);
    expect(limitsAtHub()).toEqual([{ max_tokens: 30 }, { max_completion_tokens: 30 }, { max_completion_tokens: 30 }]);
  });

  it('400 with what the hub says to the name that it takes', async () => {
    taken = 'max_completion_tokens';
    then = refusals['dev/context-too-long'];
    const refused = await chat('four', bound('max_completion_tokens'));
    expect(refused).toMatchObject({
      status: 400,
      body: { error: { code: 'context_length_exceeded', param: 'messages' } },
    });
  });

  it('502 where it takes neither name: a caller has chosen one of them at most', async () => {
    taken = 'max_completion_tokens';
    const { body } = refusals['dev/refuses-max-tokens'];
    then = { source: 'any', status: 400, body: body.replaceAll('max_tokens', 'max_completion_tokens') };
    expect(await chat('four', bound('max_tokens'))).toMatchObject({
      status: 502,
      body: { code: 'hub_failed', charged: false },
    });
    expect(limitsAtHub()).toEqual([{ max_tokens: 30 }, { max_completion_tokens: 30 }]);
  });

  it('nothing is learned where the other name fails too, and the caller hears nothing of either name: 502', async () => {
    taken = 'max_completion_tokens';
    then = { source: 'any', status: 500, body: '' };
    const refused = await chat('four', bound('max_tokens'));
    expect(refused).toMatchObject({ status: 502, body: { code: 'hub_failed', attempts: [{ reason: 'status_500' }] } });
    expect(limitsAtHub()).toEqual([{ max_tokens: 30 }, { max_completion_tokens: 30 }]);
    [taken, then, hub.received.length] = ['max_tokens', null, 0];
    expect((await chat('four', bound('max_tokens'))).status).toBe(200);
    expect(limitsAtHub()).toEqual([{ max_tokens: 30 }]);
  });
});
