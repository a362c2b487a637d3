import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { TranscriptionAnswer } from '../../rest-compat/inference/answers.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import { payingFetch } from '../harness/buyer.ts';
import { type Audio, audio, audioForm, audioFormOf, transcriptOf } from '../harness/doors/audio-form.ts';
import { openService, type ReceiptBody, resetHubsBeforeEach, type Service } from '../harness/doors/open-service.ts';
import { testPaidDoor } from '../harness/doors/paid-door.ts';

const AUDIO = '/v1/audio/transcriptions';
type Answer = Omit<z.infer<typeof TranscriptionAnswer>, 'svc'> & { readonly svc: ReceiptBody };

let service: Service;
beforeAll(async () => {
  service = await openService({ LOG_LEVEL: 'trace' }, { media: true });
});
resetHubsBeforeEach(() => service);

async function buy(form: FormData, headers: Record<string, string> = {}) {
  const payer = await service.chain.newWallet();
  const heard = await service.knock<Answer>('POST', AUDIO, { body: form, headers, by: payingFetch(payer) });
  return { ...heard, payer };
}

describe(`POST ${AUDIO} 200`, () => {
  it('by the official x402 client: the hub hears the very bytes, under a name of ours', async () => {
    const file = audio(300_000);
    const name = 'meeting of ACME with 0xABC (call 7).WAV';
    const { status, body, headers, payer } = await buy(audioForm({ file, name, model: 'beta-audio' }));
    expect(status).toBe(200);
    expect(body).toEqual({ text: `This is beta-audio on beta, which ${transcriptOf(file)}`, svc: body.svc });
    expect(headers.get('x-svc-payload-hash')).toBe(body.svc.payload_hash);
    expect(body.svc).toMatchObject({
      settlement_status: 'settled',
      payload: { job_kind: 'other', fulfillment: { output_commitment: { status: 'committed', kind: 'sha256' } } },
    });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
    const asked = service.hubs[1].requests.at(-1);
    expect(asked?.path).toBe('/v1/audio/transcriptions');
    expect(asked?.bytes.toString('latin1')).not.toMatch(/ACME|0xABC|meeting/);
  });

  it('with every field: the hub gets its own, and no other', async () => {
    const said = { model: 'beta-audio', language: 'en', prompt: 'Größe', temperature: 0.5 };
    const { status } = await buy(audioForm({ ...said, user: 'me', intent_id: 'i', attempt_index: 4 }));
    expect(status).toBe(200);
    const { headers, bytes } = service.hubs[1].requests.at(-1) ?? { headers: {}, bytes: Buffer.alloc(0) };
    const form = await new Response(bytes, { headers: { 'content-type': String(headers['content-type']) } }).formData();
    const fields = [...form.entries()].filter(([, value]) => typeof value === 'string');
    expect(Object.fromEntries(fields)).toEqual({ ...said, temperature: '0.5', response_format: 'json' });
    expect(form.get('file')).toMatchObject({ name: 'audio.wav', type: 'audio/wav' });
  });

  it('as text: the bare text, and by its headers the receipt is found and known', async () => {
    const file = audio('as text');
    const { status, text, headers } = await buy(audioForm({ file, response_format: 'text' }));
    expect({ status, type: headers.get('content-type') }).toEqual({ status: 200, type: 'text/plain; charset=utf-8' });
    expect(text).toContain(transcriptOf(file));
    const { body: receipt } = await service.get(`/receipt/${headers.get('x-svc-task-id')}`);
    const named = ['verify_url', 'payload_hash'].map(name => headers.get(`x-svc-${name.replace('_', '-')}`));
    expect(named).toEqual([receipt.verify_url, receipt.payload_hash]);
  });

  it('as verbose_json: language, duration and segments, as the hub gives them', async () => {
    const { body } = await buy(audioForm({ response_format: 'verbose_json', 'timestamp_granularities[]': 'segment' }));
    expect(body).toMatchObject({ task: 'transcribe', language: 'english', duration: 1.5, text: body.text });
    expect(body.segments).toEqual([
      expect.objectContaining({ id: 0, start: 0, end: 1.5, text: body.text, tokens: [1, 2], no_speech_prob: 0.01 }),
    ]);
    expect(body.segments?.[0]).not.toHaveProperty('transient');
  });

  it.each([
    ['speech.MP3', '', 'mp3'],
    ['a.b.flac', 'application/octet-stream', 'flac'],
    ['blob', 'audio/webm;codecs=opus', 'webm'],
    ['recording', 'audio/x-wav', 'wav'],
  ])('of a file named %s of type %s, as %s', async (name, type, format) => {
    const file = audio(name);
    expect((await buy(audioForm({ file, name, type }))).body.text).toContain(transcriptOf(file, format));
  });

  it('from the other hub where one fails; 502 where that is not wanted', async () => {
    service.hubs[0].behave({ kind: 'close' });
    expect((await buy(audioForm())).body.svc).toMatchObject({ hub: 'beta', model: 'beta-audio' });
    for (const hub of service.hubs) hub.behave({ kind: 'close' });
    const { status, body, payer } = await buy(audioForm({ 'svc[failover]': false }));
    expect({ status, body }).toMatchObject({ status: 502, body: { code: 'hub_failed', charged: false } });
    expect(await service.transfersFrom(payer)).toEqual([]);
  });

  it('by GraphQL with a small file in base64: the same request as by form', async () => {
    const file = audio(500_000);
    const payment = await service.payment(await service.chain.newWallet(), AUDIO);
    const query = `mutation ($file: AudioFileInput!) { createTranscription(input: { model: "beta-audio", file: $file }) {
      text task language segments hub svc receipt { taskId } } }`;
    const variables = { file: { base64: file.bytes.toString('base64'), format: 'wav' } };
    const { body } = await service.post<{ data: { createTranscription: JsonObject } }>(
      '/graphql',
      { query, variables },
      payment,
    );
    const { svc, receipt, ...told } = body.data.createTranscription;
    const text = `This is beta-audio on beta, which ${transcriptOf(file)}`;
    expect(told).toEqual({ text, task: null, language: null, segments: null, hub: 'beta' });
    expect(receipt).toEqual({ taskId: (svc as ReceiptBody).task_id });
    const again = await service.post<Answer>(AUDIO, audioForm({ file, model: 'beta-audio' }), payment);
    expect(again.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
    expect(again.body).toMatchObject({ text, svc: { task_id: (svc as ReceiptBody).task_id } });
  });
});

it(`POST ${AUDIO} 200 by a live key: no payment, and a receipt that names none`, async () => {
  const file = audio('by key');
  const heard = await service.post<Answer>(AUDIO, audioForm({ file }), { 'X-API-Key': 'a-live-key' });
  expect(heard).toMatchObject({ status: 200, body: { svc: { waived_by: 'live_key', payment_ref: null } } });
  expect(heard.body.text).toContain(transcriptOf(file));
});

describe(`POST ${AUDIO}, the same payment again`, () => {
  const sent = async (file: Audio, name: string, payment: Record<string, string>) =>
    service.post<Answer>(AUDIO, audioForm({ file, name, model: 'beta-audio' }), payment);

  it('200 with the same bytes, whatever the file is called: the kept answer, no hub is asked', async () => {
    const payment = await service.payment(await service.chain.newWallet(), AUDIO);
    const first = await sent(audio('same'), 'one.wav', payment);
    const before = service.hubs[1].requests.length;
    const again = await sent(audio('same'), 'two.wav', payment);
    expect(again.body.svc.issuer_signature).toEqual(first.body.svc.issuer_signature);
    expect(again.body.text).toBe(first.body.text);
    expect(service.hubs[1].requests).toHaveLength(before);
  });

  it('409 with other bytes, or with the same as another format', async () => {
    const payment = await service.payment(await service.chain.newWallet(), AUDIO);
    expect((await sent(audio('these'), 'a.wav', payment)).status).toBe(200);
    for (const [file, name] of [
      [audio('those'), 'a.wav'],
      [audio('these'), 'a.mp3'],
    ] as const)
      expect(await sent(file, name, payment)).toMatchObject({ status: 409, body: { code: 'claim_already_settled' } });
  });

  it('200 where the answer was lost in a crash: it is worked for once more, free, with the file that came again', async () => {
    const file = audio('lost');
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, AUDIO);
    const first = await sent(file, 'a.wav', payment);
    await service.query('update payment_claim set answer_box = null where task_id = $1', [first.body.svc.task_id]);
    const before = service.hubs[1].requests.length;
    const again = await sent(file, 'a.wav', payment);
    expect(again).toMatchObject({ status: 200, body: { text: first.body.text } });
    expect(again.body.svc.issuer_signature).toEqual(first.body.svc.issuer_signature);
    expect(service.hubs[1].requests).toHaveLength(before + 1);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });
});

testPaidDoor(() => service, {
  path: AUDIO,
  job_kind: 'other',
  body: (_, name) => ({ file_of: name }),
  sent: audioFormOf,
  oversized: () => audioForm({ file: audio(limits.upload_file_bytes_max + 1) }),
  wrong: [
    ['file', { name: 'secrets.txt', type: 'text/plain' }],
    ['file', { name: '', type: '' }],
    ['model', { model: 'alpha-1' }],
    ['language', { language: 'English, please' }],
    ['prompt', { prompt: 'x'.repeat(limits.transcription_prompt_chars_max + 1) }],
    ['response_format', { response_format: 'srt' }],
    ['temperature', { temperature: '0x1' }],
    ['temperature', { temperature: 1.5 }],
    ['timestamp_granularities.0', { 'timestamp_granularities[]': 'word' }],
    ['stream', { stream: true }],
    ['attempt_index', { attempt_index: -1 }],
  ],
});

it('no line of the log, at the level that says most, holds what a file was called, what is in it or was said of it', async () => {
  const said = { file: 'what is spoken in it', name: 'call of ACME with nobody', prompt: 'what is said of it' };
  const form = (type: string) => audioForm({ ...said, file: audio(said.file), name: said.name, type });
  expect((await buy(form('audio/wav'))).status).toBe(200);
  expect((await buy(form('text/plain'))).status).toBe(400);
  for (const hub of service.hubs) hub.behave({ kind: 'close' });
  expect((await buy(form('audio/mp3'))).status).toBe(502);
  // Lines about successful requests are written with a delay, so the test waits for the line of a later request.
  const logs = () => service.gateway.logs.join('\n');
  const last = randomUUID();
  await service.get('/v1/models', { 'x-request-id': last });
  await expect.poll(logs).toContain(last);
  for (const secret of Object.values(said)) {
    const bytes = Buffer.from(secret);
    for (const shown of [secret, bytes.toString('base64').slice(0, -4), bytes.toString('hex')])
      expect(logs()).not.toContain(shown);
  }
});
