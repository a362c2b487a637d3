import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { verifyReceipt } from '../../subgraphs/receipt/verify/receipt.ts';
import { audio, audioForm } from '../harness/doors/audio-form.ts';
import { listen } from '../harness/doors/listen.ts';
import { ask, CHAT, openService, type ReceiptBody, type Service } from '../harness/doors/open-service.ts';
import { startRecorder } from '../harness/doors/recorder.ts';
import { startTestHub } from '../harness/hub.ts';

let hub: Awaited<ReturnType<typeof startTestHub>>;
let service: Service;
let wire: Awaited<ReturnType<typeof startRecorder>>;
let callers: readonly [Caller, Caller];

type Caller = Awaited<ReturnType<Service['newAgent']>> & { readonly headers: Record<string, string> };

beforeAll(async () => {
  hub = await startTestHub({
    name: 'watched',
    models: ['watched-1'],
    image_models: ['watched-image'],
    audio_models: ['watched-audio'],
    embedding_models: ['watched-embedding'],
  });
  wire = await startRecorder(hub.base_url);
  service = await openService({ HUBS: JSON.stringify([{ ...hub.config, base_url: wire.base_url }]) });
  callers = [await newCaller(), await newCaller()];
});

/** A caller that differs from the others in everything that a request can contain. */
async function newCaller(): Promise<Caller> {
  const mark = randomBytes(6).toString('hex');
  const agent = await service.newAgent();
  const headers = {
    'X-SVC-Session': agent.session,
    'user-agent': `agent-${mark}`,
    'x-forwarded-for': `203.0.113.${randomBytes(1)[0]}`,
    forwarded: `for=${mark}`,
    traceparent: `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`,
    baggage: `caller=${mark}`,
    cookie: `caller=${mark}`,
    origin: `https://${mark}.example`,
    referer: `https://${mark}.example/page`,
    'accept-language': `x-${mark}`,
    'x-request-id': `request-${mark}`,
    'x-api-key': `unknown-${mark}`,
    'x-router-key': `sk-${mark}`,
    'openai-organization': `org-${mark}`,
    'X-SVC-Intent': `intent-${mark}`,
    'X-SVC-Attempt': String(randomBytes(1)[0]),
  };
  return { ...agent, headers };
}

/** One call of each kind that is sent to a hub, with the same text by every caller. */
const kinds: readonly (readonly [kind: string, path: string, body: (caller: Caller) => unknown])[] = [
  ['a chat', CHAT, () => ask('The same words', { user: 'unknown members', metadata: { who: 'me' } })],
  ['a streamed chat', CHAT, () => ask('The same words, streamed', { stream: true })],
  ['a message to an agent', '/a2a-message', () => ask('The same words')],
  ['a response', '/v1/responses', () => ({ input: 'The same words' })],
  ['an image', '/v1/images/generations', () => ({ prompt: 'The same picture' })],
  ['vectors', '/v1/embeddings', ({ agent_id }) => ({ input: 'The same words', user: String(agent_id) })],
  // The caller chooses the file's name.
  [
    'a transcription',
    '/v1/audio/transcriptions',
    ({ agent_id }) => audioForm({ file: audio(), name: `${agent_id}.wav` }),
  ],
];

async function sent(caller: Caller, path: string, body: unknown) {
  const headers = { ...caller.headers, ...(await service.payment(caller.account, path)) };
  wire.take();
  if ((body as JsonObject).stream !== true) {
    const heard = await service.post<{ svc: ReceiptBody }>(path, body, headers);
    return { status: heard.status, headers: heard.headers, svc: heard.body.svc, seen: wire.take() };
  }
  const stream = await listen(service, body, { headers });
  const { svc } = await stream.rest();
  return { status: stream.status, headers: stream.headers, svc, seen: wire.take() };
}

/** Replaces the boundary of a form, which is random and identifies no caller. */
function withoutBoundary(bytes: string): string {
  const boundary = /boundary=(\S+)/.exec(bytes)?.[1];
  return boundary ? bytes.replaceAll(boundary, '#'.repeat(boundary.length)) : bytes;
}

describe.each(kinds)('%s', (_, path, body) => {
  it('of one caller cannot be told from the same of another: not by one byte, nor by an address', async () => {
    const [one, other] = [
      await sent(callers[0], path, body(callers[0])),
      await sent(callers[1], path, body(callers[1])),
    ];
    for (const { status, headers, svc, seen } of [one, other]) {
      expect([status, headers.get('x-svc-vendor-blind'), svc?.vendor_blind]).toEqual([200, 'true', true]);
      expect(seen).toHaveLength(1);
    }
    const [seen, of_other] = [one, other].map(({ seen: [request] }) => ({
      from: request?.from,
      bytes: withoutBoundary(request?.bytes ?? ''),
    }));
    expect(seen?.bytes).toMatch(/^POST \/v1\//);
    expect(seen?.bytes).toContain('authorization: Bearer key-of-watched');
    expect(of_other).toEqual(seen);
    for (const [at, { account, session, headers }] of callers.entries()) {
      const task_id = [one, other][at]?.svc?.task_id ?? '';
      const own = [
        account.address.slice(2),
        session,
        task_id.slice(5),
        ...Object.values(headers).filter(v => v.length > 4),
      ];
      for (const secret of own) expect(seen?.bytes.toLowerCase()).not.toContain(secret.toLowerCase());
    }
  });
});

it('callers share connections: which one a call came over says nothing of who called', async () => {
  const used = new Map<number, Set<number>>();
  await expect
    .poll(async () => {
      for (const caller of callers) {
        const { seen } = await sent(caller, CHAT, ask(randomBytes(4).toString('hex')));
        for (const { connection } of seen)
          used.set(connection, (used.get(connection) ?? new Set()).add(caller.agent_id));
      }
      return Math.max(...[...used.values()].map(({ size }) => size));
    })
    .toBe(2);
});

describe('vendor_blind', () => {
  it('stands in what is signed: whoever takes it off or puts it on is found out', async () => {
    const { svc } = await sent(callers[0], CHAT, ask('Signed'));
    const { body: jwks } = await service.get('/.well-known/jwks.json');
    const found = async (document: JsonObject) => (await verifyReceipt(document, jwks as never)).kind;
    const { settlement_status: _, ...receipt } = (svc ?? {}) as JsonObject;
    expect((receipt.payload as JsonObject).vendor_blind).toBe(true);
    expect(await found(receipt)).toBe('valid');
    expect(await found({ ...receipt, vendor_blind: false })).not.toBe('valid');
    const { status, body } = await service.get(`/receipt/${receipt.task_id}`);
    expect([status, body.vendor_blind]).toEqual([200, true]);
  });

  it.each<[string, string | undefined]>([
    ['where it is asked for so', 'url'],
    ['where the hub chooses so', undefined],
  ])('is not promised of an image by URL, %s: whoever fetches it is seen by the hub', async (_, response_format) => {
    const body = { data: [{ url: 'https://hub.example/picture.png' }] };
    hub.behave({ kind: 'status', status: 200, body });
    const heard = await sent(callers[0], '/v1/images/generations', { prompt: 'By URL', response_format });
    hub.behave({ kind: 'answer' });
    expect([heard.status, heard.headers.get('x-svc-vendor-blind')]).toEqual([200, null]);
    expect(heard.svc).not.toHaveProperty('vendor_blind');
    expect(heard.svc).not.toHaveProperty('payload.vendor_blind');
  });

  it('is not promised without a session, though the hub learns no more of such a call', async () => {
    const [{ account }] = callers;
    wire.take();
    const { status, headers, body } = await service.buy(account, ask('The same words', { user: 'me' }), {
      'user-agent': 'somebody',
    });
    expect([status, headers.get('x-svc-vendor-blind')]).toEqual([200, null]);
    expect(body.svc).not.toHaveProperty('vendor_blind');
    const [plain] = wire.take();
    const { seen } = await sent(callers[1], CHAT, ask('The same words'));
    expect(plain?.bytes).toBe(seen[0]?.bytes);
  });
});
