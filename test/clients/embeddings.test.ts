import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { OpenAIEmbeddings } from '@langchain/openai';
import { type EmbeddingModel, embed, embedMany } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fetch, payingFetch } from '../harness/buyer.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';
import { reachesBeyond } from '../harness/outbound-names.ts';

/* The AI SDK and LangChain as anybody installs them, with nothing changed but their `fetch`, which pays; OpenAI's own client is in openai/. */

let service: Service;
beforeAll(async () => {
  service = await openService({}, { media: true });
});
const reached = reachesBeyond();
afterAll(() => expect(reached()).toEqual([]));

const MODEL = 'alpha-embedding';
const text = 'Who are you?';

type Provider = (url: string, fetch: Fetch) => EmbeddingModel;
const providers: readonly (readonly [string, Provider])[] = [
  ['@ai-sdk/openai', (baseURL, fetch) => createOpenAI({ baseURL, apiKey: 'none', fetch }).embedding(MODEL)],
  [
    '@ai-sdk/openai-compatible',
    (baseURL, fetch) => createOpenAICompatible({ name: 'svc', baseURL, fetch }).embeddingModel(MODEL),
  ],
];

describe.each(providers)('%s', (_, provider) => {
  it('embed and embedMany: the same vector for the same text, each call paid once', async () => {
    const payer = await service.chain.newWallet();
    const model = provider(`${service.url}/v1`, payingFetch(payer));
    const one = await embed({ model, value: text, maxRetries: 0 });
    expect(one.embedding).toHaveLength(64);
    expect(one.usage.tokens).toBe(3);
    const many = await embedMany({ model, values: ['Another', text], maxRetries: 0 });
    expect(many.embeddings).toEqual([expect.not.arrayContaining(one.embedding), one.embedding]);
    expect(await service.transfersFrom(payer)).toHaveLength(2);
  });
});

describe('@langchain/openai', () => {
  it.each(['float', undefined] as const)(
    'embedDocuments and embedQuery with encodingFormat %s: the same vector for the same text, each call paid once',
    async encodingFormat => {
      const payer = await service.chain.newWallet();
      const configuration = { baseURL: `${service.url}/v1`, fetch: payingFetch(payer) };
      const asked = { model: MODEL, apiKey: 'none', maxRetries: 0, configuration };
      const embeddings = new OpenAIEmbeddings({ ...asked, ...(encodingFormat && { encodingFormat }) });
      const [one, other] = await embeddings.embedDocuments([text, 'Another']);
      expect([one?.length, other?.length]).toEqual([64, 64]);
      expect(await embeddings.embedQuery(text)).toEqual(one);
      expect(one).not.toEqual(other);
      expect(await service.transfersFrom(payer)).toHaveLength(2);
    },
  );
});
