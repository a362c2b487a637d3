import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, type LanguageModel, streamText } from 'ai';
import { beforeAll, describe } from 'vitest';
import { chatRows, compatibleRows, responsesRows } from '../../harness/habits/ai-sdk-rows.ts';
import type { ApiAddress } from '../../harness/habits/outcome.ts';
import { type Client, serviceOutcomes, testEachHabit } from '../../harness/habits/rows.ts';
import { API_KEY, openStandIn, prompt, type StandIn } from '../../harness/habits/stand-in.ts';

/* The Vercel AI SDK as anybody installs it, with nothing changed but the address and a `fetch` that pays. */

let standIn: StandIn;
beforeAll(async () => {
  standIn = await openStandIn();
});

function sdk(modelAt: (reached: ApiAddress, model: string) => LanguageModel): Client {
  const asked = { prompt, maxOutputTokens: 64, maxRetries: 1 };
  return {
    async whole(reached, name) {
      const { text, reasoningText, finishReason } = await generateText({ model: modelAt(reached, name), ...asked });
      return { text, reasoning: reasoningText, finish: finishReason };
    },
    async streamed(reached, name, shown) {
      let fault: unknown;
      const onError = ({ error }: { readonly error: unknown }) => {
        fault = error;
      };
      const stream = streamText({ model: modelAt(reached, name), ...asked, onError });
      for await (const piece of stream.textStream) shown.push(piece);
      if (fault !== undefined) throw fault;
      return { text: await stream.text, reasoning: await stream.reasoningText, finish: await stream.finishReason };
    },
  };
}

const chat = sdk(({ baseURL, fetch: by }, name) => createOpenAI({ baseURL, apiKey: API_KEY, fetch: by }).chat(name));
const responses = sdk(({ baseURL, fetch: by }, name) => createOpenAI({ baseURL, apiKey: API_KEY, fetch: by })(name));
const compatible = sdk(({ baseURL, fetch: by }, name) =>
  createOpenAICompatible({ name: 'svc', baseURL, apiKey: API_KEY, fetch: by })(name),
);

describe('@ai-sdk/openai, chat', () => testEachHabit(() => standIn, chat, chatRows));

describe('@ai-sdk/openai, responses, which the service alone speaks', () =>
  testEachHabit(() => standIn, responses, serviceOutcomes(responsesRows), { straight: false }));

describe('@ai-sdk/openai-compatible', () => testEachHabit(() => standIn, compatible, compatibleRows));
