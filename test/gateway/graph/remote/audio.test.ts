import { randomBytes } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CALL_HEADER, callKey, type SubgraphCall, signCall, uploadsOf } from '../../../../gateway/graph/remote/call.ts';
import { sha256Hex } from '../../../../schema/digest.ts';
import { limits } from '../../../../schema/limits.ts';
import { nobody } from '../../../../schema/principal.ts';
import { type PaymentHeaders, payingFetch, paymentFor, type Wallet } from '../../../harness/buyer.ts';
import { type Audio, audio, audioForm, transcriptOf } from '../../../harness/doors/audio-form.ts';
import { eventually } from '../../../harness/faults/ground.ts';
import { openRemoteGraph, type RemoteGraph } from '../../../harness/graph/remote/processes.ts';

const AUDIO = '/v1/audio/transcriptions';

let service: RemoteGraph;
beforeAll(async () => {
  service = await openRemoteGraph({ remote: ['receipt'], audio_models: ['test/audio'] });
});
beforeEach(() => service.hub.behave({ kind: 'answer' }));

interface Answer {
  readonly text: string;
  readonly code?: string;
  readonly svc: { readonly task_id: string };
}

async function send(file: Audio, headers: PaymentHeaders = {}, by: typeof fetch = fetch) {
  const answer = await by(service.url + AUDIO, { method: 'POST', headers, body: audioForm({ file }) });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Answer };
}

async function newPayment() {
  const payer = await service.chain.newWallet();
  return { payer, payment: await paymentFor(payer, service.url + AUDIO) };
}

async function transfersFrom({ address }: Wallet): Promise<number> {
  const transfers = await service.chain.transfers(service.pay_to);
  return transfers.filter(({ from }) => from === address.toLowerCase()).length;
}

const text = (file: Audio) => `This is test/audio on gamma, which ${transcriptOf(file)}`;

describe('a transcription where the receipt subgraph is a process of its own', () => {
  it('200 by the official x402 client: the hub hears the very bytes; once more the same answer', async () => {
    const { payer, payment } = await newPayment();
    const file = audio(3_000_000);
    const first = await send(file, payment);
    expect(first).toMatchObject({ status: 200, body: { text: text(file) } });
    expect(first.headers.get('x-svc-settlement-status')).toBe('settled');
    const again = await send(file, payment);
    expect(again.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
    expect(again.body).toMatchObject({ text: text(file), svc: { task_id: first.body.svc.task_id } });
    expect(await transfersFrom(payer)).toBe(1);
    const other = audio('by a client');
    const wallet = await service.chain.newWallet();
    expect(await send(other, {}, payingFetch(wallet))).toMatchObject({ status: 200, body: { text: text(other) } });
  });

  it('as many as there is room for at once: each hears its own', async () => {
    const files = Array.from({ length: 6 }, () => audio(500_000));
    const wallets = await Promise.all(files.map(() => service.chain.newWallet()));
    const answers = await Promise.all(
      files.map((file, index) => send(file, {}, payingFetch(wallets[index] ?? (undefined as never)))),
    );
    expect(answers.map(({ body }) => body.text)).toEqual(files.map(text));
  });

  it('503 upload_unknown on a file that never came: nothing is claimed, and the payment buys', async () => {
    const { payer, payment } = await newPayment();
    const query = 'mutation ($file: AudioFileInput!) { createTranscription(input: { file: $file }) { text } }';
    const variables = { file: { upload: randomBytes(16).toString('hex'), format: 'wav' } };
    const answer = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...payment },
      body: JSON.stringify({ query, variables }),
    });
    expect(await answer.json()).toMatchObject({ errors: [{ extensions: { code: 'upload_unknown', status: 503 } }] });
    const file = audio('after all');
    expect(await send(file, payment)).toMatchObject({ status: 200, body: { text: text(file) } });
    expect(await transfersFrom(payer)).toBe(1);
  });

  it('killed while the hub hears it, and away: the same payment with the same file is answered once it is back', async () => {
    const { payer, payment } = await newPayment();
    const file = audio('cut short');
    const on = Promise.withResolvers<void>();
    service.hub.behave({ kind: 'answer', until: on.promise });
    const asked = service.hub.requests.length;
    const answered = send(file, payment);
    await eventually('the hub asked', () => service.hub.requests.length > asked || null);
    await service.kill('receipt');
    expect(await answered).toMatchObject({ status: 503, body: { code: 'settlement_pending' } });
    on.resolve();
    expect(await send(file, payment)).toMatchObject({ status: 503, body: { code: 'unavailable' } });

    service.hub.behave({ kind: 'answer' });
    await service.restart('receipt');
    const answer = await eventually('an answer to the same payment', async () => {
      const it = await send(file, payment);
      expect([200, 409, 503]).toContain(it.status);
      return it.status === 200 ? it : null;
    });
    expect(answer.body.text).toBe(text(file));
    expect(await transfersFrom(payer)).toBe(1);
  });
});

describe('a file for the receipt subgraph that its gateway did not send', () => {
  const bytes = randomBytes(1_000);

  function call(members: Partial<SubgraphCall> = {}, secret = service.secret) {
    const signed = signCall(callKey(secret), {
      subgraph: uploadsOf('receipt'),
      principal: nobody,
      payment: null,
      at_ms: Date.now(),
      nonce: randomBytes(16).toString('hex'),
      body_sha256: sha256Hex(bytes),
      ...members,
    });
    return async (body: Buffer<ArrayBuffer> = Buffer.from(bytes), path = '/uploads') =>
      (await fetch(service.urls.receipt + path, { method: 'POST', headers: { [CALL_HEADER]: signed }, body })).status;
  }

  it('204 on what is signed; 401 on the same again', async () => {
    const post = call();
    expect(await post()).toBe(204);
    expect(await post()).toBe(401);
  });

  it.each<[string, () => Promise<number>]>([
    ['unsigned', async () => (await fetch(`${service.urls.receipt}/uploads`, { method: 'POST', body: 'x' })).status],
    ['signed with another secret', () => call({}, 'not the secret between them')()],
    ['signed for a query', () => call({ subgraph: 'receipt' })()],
    ['of another time', () => call({ at_ms: Date.now() - 31_000 })()],
    ['of other bytes than were signed', () => call()(Buffer.from('others'))],
    ['as a query', () => call()(Buffer.from(bytes), '/graphql')],
  ])('401 %s', async (_, post) => {
    expect(await post()).toBe(401);
  });

  it('413 beyond what a file may have', async () => {
    const large = Buffer.alloc(limits.upload_file_bytes_max + 1);
    expect(await call({ body_sha256: sha256Hex(large) })(large)).toBe(413);
  });
});
