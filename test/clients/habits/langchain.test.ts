import type { AIMessage, AIMessageChunk } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { beforeAll, describe } from 'vitest';
import { ANSWER, FAILED, openaiRows } from '../../harness/habits/openai-rows.ts';
import type { ApiAddress, HabitOutcome } from '../../harness/habits/outcome.ts';
import { type Client, type Rows, serviceOutcomes, testEachHabit, withoutShown } from '../../harness/habits/rows.ts';
import { API_KEY, openStandIn, prompt, type StandIn } from '../../harness/habits/stand-in.ts';

/* LangChain as anybody installs it, with nothing changed but the address and a `fetch` that pays. */

let standIn: StandIn;
beforeAll(async () => {
  standIn = await openStandIn();
});

/** `finish_reason` of a chat, `status` of a response. */
interface Metadata {
  readonly finish_reason?: string;
  readonly status?: string;
}

function outcomeIn({ text, additional_kwargs, response_metadata }: AIMessage | AIMessageChunk): HabitOutcome {
  const { finish_reason, status } = response_metadata as Metadata;
  const { reasoning_content } = additional_kwargs as { readonly reasoning_content?: string };
  const ends = { completed: 'stop', incomplete: 'length' } as const;
  const finish = finish_reason ?? ends[status as keyof typeof ends] ?? status;
  return { text, reasoning: reasoning_content, finish };
}

function langchain(useResponsesApi: boolean): Client {
  const modelAt = ({ baseURL, fetch: by }: ApiAddress, model: string) => {
    const configuration = { baseURL, fetch: by };
    return new ChatOpenAI({ model, apiKey: API_KEY, maxRetries: 1, maxTokens: 64, useResponsesApi, configuration });
  };
  return {
    whole: async (reached, name) => outcomeIn(await modelAt(reached, name).invoke(prompt)),
    async streamed(reached, name, shown) {
      const pieces: AIMessageChunk[] = [];
      for await (const piece of await modelAt(reached, name).stream(prompt)) {
        shown.push(piece.text);
        pieces.push(piece);
      }
      return outcomeIn(pieces.reduce((whole, piece) => whole.concat(piece)));
    },
  };
}

/** Of a prompt that is too long it makes an error of its own, on which agents shorten their history. It shows thoughts by one of their names. */
const rows: Rows = {
  ...openaiRows,
  'dev/context-too-long': 'ContextOverflowError 400 context_length_exceeded',
  'dev/context-too-long-flat': [
    'ContextOverflowError 400 BadRequestError',
    'ContextOverflowError 400 hub_rejected_request',
  ],
  'dev/out-of-credit': ['InsufficientQuotaError 429 insufficient_quota', FAILED],
  'dev/thinking-details': `${ANSWER} stop`,
  'dev/thinks-to-the-limit': '"" length',
};

describe('@langchain/openai, chat', () => testEachHabit(() => standIn, langchain(false), rows));

describe('@langchain/openai, responses, which the service alone speaks', () =>
  testEachHabit(() => standIn, langchain(true), withoutShown('thoughts', serviceOutcomes(rows)), { straight: false }));
