import OpenAI, { toFile } from 'openai';
import { describe, expect, it } from 'vitest';
import { startDevelopmentHub } from '../../../gateway/development/hub/start.ts';
import { audio, transcriptOf } from '../../harness/doors/audio-form.ts';
import { atEnd } from '../../harness/release.ts';

const models = { models: ['dev/small'], image_models: ['dev/image'], audio_models: ['dev/transcribe'] };
const embedding_models = ['dev/embedding'];
const hub = await startDevelopmentHub({ name: 'alpha', api_key: 'k', ...models, embedding_models });
atEnd(hub.close);
const openai = new OpenAI({ baseURL: hub.base_url, apiKey: 'k', maxRetries: 0 });

/** Signature and IHDR of a PNG of 64 × 64 pixels. */
const PNG_64 = '89504e470d0a1a0a0000000d494844520000004000000040';
const startOf = (bytes: Uint8Array) => Buffer.from(bytes).subarray(0, 24).toString('hex');

describe('the development hub, by the official client', () => {
  it('POST /v1/images/generations draws the same picture each time, by its bytes or by where it can be seen', async () => {
    const draw = (response_format: 'url' | 'b64_json') =>
      openai.images.generate({ model: 'dev/image', prompt: 'A lighthouse', response_format });
    const drawn = Buffer.from((await draw('b64_json')).data?.[0]?.b64_json ?? '', 'base64');
    expect(startOf(drawn)).toBe(PNG_64);
    const seen = await fetch((await draw('url')).data?.[0]?.url ?? '');
    expect(seen.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await seen.arrayBuffer()).equals(drawn)).toBe(true);
  });

  it('POST /v1/audio/transcriptions says what it heard', async () => {
    const file = audio(10_000);
    const asked = { model: 'dev/transcribe', file: await toFile(file.bytes, 'audio.wav') };
    expect((await openai.audio.transcriptions.create(asked)).text).toContain(transcriptOf(file));
    const verbose = await openai.audio.transcriptions.create({ ...asked, response_format: 'verbose_json' });
    expect(verbose).toMatchObject({ duration: 1.5, language: 'english', segments: [{ text: verbose.text }] });
  });

  it('POST /v1/embeddings gives the same vector of length 1 each time, as numbers and as base64 alike', async () => {
    const embed = async (encoding_format: 'float' | 'base64' | undefined, input: string | string[] | number[][]) => {
      const { data } = await openai.embeddings.create({
        model: 'dev/embedding',
        input,
        dimensions: 32,
        ...(encoding_format && { encoding_format }),
      });
      return data.map(({ embedding }) => embedding);
    };
    const [vector = []] = await embed('float', 'A lighthouse');
    expect(vector).toHaveLength(32);
    expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    expect(await embed(undefined, ['A fox', 'A lighthouse'])).toEqual([expect.anything(), vector]);
    expect(await embed('float', [[1, 2], [3]])).toHaveLength(2);
  });

  it.each([
    ['404 on a model of another kind', 404, { model: 'dev/small', prompt: 'x' }],
    ['400 on what is no request', 400, { model: 'dev/image', prompt: 7 }],
  ])('%s', async (_, status, asked) => {
    await expect(openai.images.generate(asked as never)).rejects.toMatchObject({ status });
  });
});
