import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { toFile } from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { notOffered } from '../../rest-compat/inference/not-offered.ts';
import { payingFetch } from '../harness/buyer.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';

/* Parts of other APIs that their clients may call and that this service does not offer. */

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

const openai = (fetching: typeof fetch = fetch) =>
  new OpenAI({ baseURL: `${service.url}/v1`, apiKey: 'none', maxRetries: 0, fetch: fetching });
const messages = [{ role: 'user' as const, content: 'Hi' }];

describe('the official openai client', () => {
  it.each<[what: string, call: (client: OpenAI) => PromiseLike<unknown>, instead: string | null]>([
    ['completions', it => it.completions.create({ model: 'm', prompt: 'Hi' }), 'POST /v1/chat/completions'],
    ['audio.speech', it => it.audio.speech.create({ model: 'm', voice: 'alloy', input: 'Hi' }), null],
    ['responses.retrieve', it => it.responses.retrieve('resp_1'), 'POST /v1/responses'],
    ['responses.delete', it => it.responses.delete('resp_1'), 'POST /v1/responses'],
    ['responses.cancel', it => it.responses.cancel('resp_1'), 'POST /v1/responses'],
    ['responses.inputItems', it => it.responses.inputItems.list('resp_1'), 'POST /v1/responses'],
    ['chat.completions.retrieve', it => it.chat.completions.retrieve('chat_1'), 'GET /receipt/{task_id}'],
    ['moderations', it => it.moderations.create({ input: 'Hi' }), null],
    ['batches', it => it.batches.list(), 'POST /v1/chat/completions'],
    ['files', it => it.files.retrieve('file_1'), 'POST /v1/chat/completions'],
    ['fineTuning.jobs', it => it.fineTuning.jobs.list(), 'GET /v1/models'],
    ['vectorStores', it => it.vectorStores.list(), 'POST /v1/embeddings'],
    ['beta.threads', it => it.beta.threads.create(), 'POST /v1/responses'],
    ['beta.assistants', it => it.beta.assistants.list(), 'POST /v1/responses'],
    [
      'images.edit',
      async it => it.images.edit({ image: await toFile(Buffer.from('p'), 'p.png'), prompt: 'Hi' }),
      'POST /v1/images/generations',
    ],
  ])('%s is NotFoundError, which says what there is instead', async (_, call, instead) => {
    const fault = await Promise.resolve(call(openai())).then(
      () => null,
      error => error,
    );
    expect(fault).toBeInstanceOf(OpenAI.NotFoundError);
    expect([fault.code, fault.type]).toEqual(['not_offered', 'not_found_error']);
    expect(fault.message).toContain(instead === null ? 'There is no other endpoint for this.' : `Use ${instead}`);
  });

  it('asks nobody to pay for it, and takes no payment', async () => {
    const account = await service.chain.newWallet();
    const payment = (await service.payment(account, '/v1/chat/completions')) as Record<string, string>;
    const answer = await fetch(`${service.url}/v1/completions`, { method: 'POST', headers: payment, body: '{' });
    expect([answer.status, answer.headers.get('payment-required')]).toEqual([404, null]);
    expect(await answer.json()).toMatchObject({ code: 'not_offered', instead: 'POST /v1/chat/completions' });
    expect(await service.claimsOf(account)).toEqual([]);
  });

  it.each<[member: string, call: (client: OpenAI) => PromiseLike<unknown>, instead: string]>([
    ['n', it => it.chat.completions.create({ model: 'svc/auto', messages, n: 2 }), 'send the call n times'],
    [
      'previous_response_id',
      it => it.responses.create({ model: 'svc/auto', input: 'Hi', previous_response_id: 'resp_1' }),
      'send the earlier turns as `input`',
    ],
  ])('%s is BadRequestError, which says what to do instead; the payment stays unused', async (param, call, instead) => {
    const account = await service.chain.newWallet();
    const fault = await Promise.resolve(call(openai(payingFetch(account)))).then(
      () => null,
      error => error,
    );
    expect(fault).toBeInstanceOf(OpenAI.BadRequestError);
    expect([fault.code, fault.param]).toEqual(['invalid_request', param]);
    expect(fault.message).toContain(instead);
    expect(await service.claimsOf(account)).toEqual([]);
  });
});

describe('the official client of Anthropic', () => {
  it.each<[what: string, call: (client: Anthropic) => PromiseLike<unknown>]>([
    ['messages.batches', it => it.messages.batches.list()],
    ['completions', it => it.post('/v1/complete', { body: { prompt: 'Hi' } })],
    ['beta.files', it => it.beta.files.list()],
  ])('%s is NotFoundError in the shape of its API', async (_, call) => {
    const client = new Anthropic({ baseURL: service.url, apiKey: 'none', maxRetries: 0 });
    const fault = await Promise.resolve(call(client)).then(
      () => null,
      error => error,
    );
    expect(fault).toBeInstanceOf(Anthropic.NotFoundError);
    expect(fault.error).toMatchObject({ type: 'error', error: { type: 'not_found_error' }, code: 'not_offered' });
    expect(fault.message).toMatch(/Use POST \/v1\/(?:messages|chat\/completions)/);
  });
});

describe('each row', () => {
  it.each(notOffered.map(row => [row.path, row] as const))('%s is 404 and names what is there', async (_, row) => {
    const path = row.reach === 'below' ? `${row.path}/an-id/of-it` : row.path;
    const asked = { headers: { Authorization: 'Bearer a-live-key' }, method: 'POST' };
    const answer = await fetch(`${service.url}${path}?limit=1`, asked);
    expect([answer.status, await answer.json()]).toMatchObject([
      404,
      { status: 404, code: 'not_offered', instead: row.instead },
    ]);
    const head = await fetch(`${service.url}${path}`, { method: 'HEAD', headers: asked.headers });
    expect([head.status, await head.text()]).toEqual([404, '']);
  });

  it('names an endpoint that there is, and is none itself', () => {
    const doors = everyDoor.flatMap(({ methods, path }) => methods.map(method => `${method} ${path}`));
    for (const { instead } of notOffered) if (instead !== null) expect(doors).toContain(instead);
    for (const { path, reach } of notOffered)
      if (reach !== 'below')
        for (const method of ['GET', 'POST', 'DELETE']) expect(doors).not.toContain(`${method} ${path}`);
  });

  it('is listed by llms.txt with its sentence', async () => {
    const text = await (await fetch(`${service.url}/llms.txt`)).text();
    const [, section = ''] = text.split('## Not offered');
    for (const { path, why } of notOffered) {
      expect(section).toContain(path);
      expect(section).toContain(why);
    }
  });

  it('lets a page of another origin ask, and is no wider than it says', async () => {
    const preflight = { 'access-control-request-method': 'POST', origin: 'https://page.example' };
    const choice = await fetch(`${service.url}/v1/completions`, { method: 'OPTIONS', headers: preflight });
    expect(choice.status).toBe(204);
    const other = await fetch(`${service.url}/v1/completions-of-mine`);
    expect([other.status, await other.json()]).toMatchObject([404, { code: 'not_found' }]);
  });
});

it('GET of a paid endpoint still says its price to whoever has not paid', async () => {
  expect((await fetch(`${service.url}/v1/chat/completions`)).status).toBe(402);
});
