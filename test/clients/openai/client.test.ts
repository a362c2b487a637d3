import OpenAI, { toFile } from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { payingFetch, type Wallet } from '../../harness/buyer.ts';
import { audio, transcriptOf } from '../../harness/doors/audio-form.ts';
import { openService, type ReceiptBody, type Service } from '../../harness/doors/open-service.ts';

/*
 * The official client as anybody installs it, with nothing changed but its `fetch`, which pays. What it sends twice (once
 * for the 402, once paid) it must be able to send twice: a body that it reads from a stream is held by it meanwhile.
 */

let service: Service;
beforeAll(async () => {
  service = await openService({}, { media: true });
});

const settings = () => ({ baseURL: `${service.url}/v1`, apiKey: 'none', maxRetries: 0 });

async function buyer(version: 1 | 2 = 2) {
  const payer = await service.chain.newWallet();
  return { payer, openai: new OpenAI({ ...settings(), fetch: payingFetch(payer, version) }) };
}

/** Paid once, and the answer says by which receipt. */
async function paidOnce(payer: Wallet, answer: unknown): Promise<ReceiptBody> {
  const { svc } = answer as { svc: ReceiptBody };
  expect(await service.transfersFrom(payer)).toEqual([
    expect.objectContaining({ tx_hash: svc.payment_ref.replace('base:', ''), amount_atomic: 2000n }),
  ]);
  return svc;
}

const messages = [{ role: 'user' as const, content: 'Who are you?' }];

describe('the official openai client, through a paying fetch', () => {
  it.each([1, 2] as const)('chat.completions.create, by x402 v%s', async version => {
    const { payer, openai } = await buyer(version);
    const completion = await openai.chat.completions.create({ model: 'svc/auto', messages, temperature: 0 });
    expect(completion.choices[0]?.message.content).toContain('Who are you?');
    await paidOnce(payer, completion);
  });

  it('chat.completions.create with stream: chunk by chunk, the receipt in the last', async () => {
    const { payer, openai } = await buyer();
    const asked = { model: 'svc/auto', messages, stream: true, stream_options: { include_usage: true } } as const;
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of await openai.chat.completions.create(asked)) chunks.push(chunk);
    expect(chunks.map(chunk => chunk.choices[0]?.delta.content ?? '').join('')).toContain('Who are you?');
    expect(chunks.at(-1)?.usage?.total_tokens).toBeGreaterThan(0);
    await paidOnce(payer, chunks.at(-1));
  });

  it('chat.completions.stream: the text as its helper puts it together', async () => {
    const { openai } = await buyer();
    const stream = openai.chat.completions.stream({ model: 'svc/auto', messages });
    expect(await stream.finalContent()).toContain('Who are you?');
  });

  it('responses.create: the text in one piece', async () => {
    const { payer, openai } = await buyer();
    const response = await openai.responses.create({
      model: 'svc/auto',
      input: 'Who are you?',
      max_output_tokens: 100,
    });
    expect(response).toMatchObject({ object: 'response', status: 'completed' });
    expect(response.output_text).toContain('Who are you?');
    expect(response.output[0]).toMatchObject({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text' }],
    });
    await paidOnce(payer, response);
  });

  it('images.generate: a picture by its bytes', async () => {
    const { payer, openai } = await buyer();
    const image = await openai.images.generate({ model: 'svc/auto', prompt: 'A lighthouse', n: 1, size: '1024x1024' });
    const bytes = Buffer.from(image.data?.[0]?.b64_json ?? '', 'base64');
    expect(bytes.subarray(1, 4).toString()).toBe('PNG');
    await paidOnce(payer, image);
  });

  it.each<['float' | undefined]>([[undefined], ['float']])(
    'embeddings.create with encoding_format %s: the numbers that the client reads are those of the hub',
    async encoding_format => {
      const { payer, openai } = await buyer();
      const input = ['A lighthouse', 'A fox'];
      const asked = { model: 'alpha-embedding', input, dimensions: 8, ...(encoding_format && { encoding_format }) };
      const embeddings = await openai.embeddings.create(asked);
      // It asks for base64 by itself, and reads that.
      expect(service.hubs[0].requests.at(-1)?.body).toMatchObject(encoding_format ? {} : { encoding_format: 'base64' });
      const by_hub = await new OpenAI({ ...settings(), baseURL: service.hubs[0].base_url }).embeddings.create(asked);
      expect(embeddings.data).toEqual(by_hub.data);
      expect(embeddings.data.map(({ embedding }) => embedding.length)).toEqual([8, 8]);
      expect(embeddings.usage).toEqual({ prompt_tokens: 4, total_tokens: 4 });
      await paidOnce(payer, embeddings);
    },
  );

  it.each<[string, number]>([
    ['of a few bytes', 100],
    ['of 8 MB: more than any buffer on the way takes, and sent twice', 8_000_000],
  ])('audio.transcriptions.create with a file %s', async (_, length) => {
    const { payer, openai } = await buyer();
    const heard = audio(length);
    const file = await toFile(heard.bytes, 'speech.mp3');
    const transcription = await openai.audio.transcriptions.create({ model: 'svc/auto', file, language: 'en' });
    expect(transcription.text).toContain(transcriptOf(heard, 'mp3'));
    await paidOnce(payer, transcription);
  });

  it('audio.transcriptions.create as text and as verbose_json: as the client types them', async () => {
    const { openai } = await buyer();
    const heard = audio('of both kinds');
    const asked = { model: 'svc/auto', file: await toFile(heard.bytes, 'speech.wav') };
    const text = await openai.audio.transcriptions.create({ ...asked, response_format: 'text' });
    expect(text).toContain(transcriptOf(heard));
    const verbose = await openai.audio.transcriptions.create({
      ...asked,
      response_format: 'verbose_json',
      timestamp_granularities: ['segment'],
    });
    expect(verbose).toMatchObject({ language: 'english', duration: 1.5, segments: [{ id: 0, text: verbose.text }] });
  });

  it('models.list, without paying', async () => {
    const models = await new OpenAI(settings()).models.list();
    const ids = models.data.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(['svc/auto', 'alpha-1', 'alpha-image', 'beta-audio']));
  });

  it.each(['svc/auto', 'alpha-1', 'beta-audio'])(
    'models.retrieve of %s, without paying: as the list has it',
    async id => {
      const openai = new OpenAI(settings());
      const model = await openai.models.retrieve(id);
      const listed = (await openai.models.list()).data.find(one => one.id === id);
      expect(model).toMatchObject({ ...listed, object: 'model', created: 1_767_225_600 });
    },
  );

  it('models.retrieve of nobody: a NotFoundError with code and param', async () => {
    const retrieved = new OpenAI(settings()).models.retrieve('nobody/at-all');
    await expect(retrieved).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(retrieved).rejects.toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
  });

  it.each<[string, (openai: OpenAI) => PromiseLike<unknown>, string]>([
    ['a chat', openai => openai.chat.completions.create({ model: 'nobody-1', messages }), 'unknown_model'],
    ['a response', openai => openai.responses.create({ model: 'nobody-1', input: 'Hello' }), 'unknown_model'],
    ['an image', openai => openai.images.generate({ model: 'nobody-1', prompt: 'Hello' }), 'unknown_model'],
    [
      'a transcription',
      async openai => {
        const file = await toFile(audio().bytes, 'speech.wav');
        return openai.audio.transcriptions.create({ model: 'nobody-1', file });
      },
      'unknown_model',
    ],
  ])('a refusal of %s is an APIError with status, code and param; nothing is charged', async (_, call, code) => {
    const { payer, openai } = await buyer();
    await expect(call(openai)).rejects.toMatchObject({ status: 400, code, param: 'model' });
    expect(await service.transfersFrom(payer)).toEqual([]);
  });

  it('without a fetch that pays: an APIError 402', async () => {
    const openai = new OpenAI(settings());
    const call = openai.chat.completions.create({ model: 'svc/auto', messages });
    await expect(call).rejects.toMatchObject({ status: 402 });
  });
});
