import OpenAI from 'openai';
import { beforeAll, describe } from 'vitest';
import { openaiRows } from '../../harness/habits/openai-rows.ts';
import type { ApiAddress } from '../../harness/habits/outcome.ts';
import { type Client, serviceOutcomes, testEachHabit } from '../../harness/habits/rows.ts';
import { API_KEY, messages, openStandIn, prompt, type StandIn } from '../../harness/habits/stand-in.ts';

/* OpenAI's client as anybody installs it, with nothing changed but the address and a `fetch` that pays. */

let standIn: StandIn;
beforeAll(async () => {
  standIn = await openStandIn();
});

const clientAt = ({ baseURL, fetch: by }: ApiAddress) =>
  new OpenAI({ baseURL, apiKey: API_KEY, maxRetries: 1, fetch: by });

/** Members that OpenAI's own models do not have. */
interface Thought {
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
}
function thoughtIn(message: object = {}): string {
  const { reasoning_content, reasoning } = message as Thought;
  return reasoning_content ?? reasoning ?? '';
}

const chat: Client = {
  async whole(reached, model) {
    const { choices } = await clientAt(reached).chat.completions.create({ model, messages, max_tokens: 64 });
    const [{ message, finish_reason } = {}] = choices;
    return { text: message?.content ?? '', reasoning: thoughtIn(message), finish: finish_reason };
  },
  async streamed(reached, model, shown) {
    const asked = { model, messages, max_tokens: 64, stream: true } as const;
    let reasoning = '';
    let finish: string | null = null;
    for await (const { choices } of await clientAt(reached).chat.completions.create(asked)) {
      const [{ delta, finish_reason } = {}] = choices;
      shown.push(delta?.content ?? '');
      reasoning += thoughtIn(delta);
      finish = finish_reason ?? finish;
    }
    return { text: shown.join(''), reasoning, finish };
  },
};

function outcomeIn({ output, output_text, status, incomplete_details }: OpenAI.Responses.Response) {
  const thoughts = output.flatMap(item => (item.type === 'reasoning' ? (item.content ?? []) : []));
  const ends = { completed: 'stop', max_output_tokens: 'length' } as const;
  const end = incomplete_details?.reason ?? status;
  const finish = ends[end as keyof typeof ends] ?? end;
  return { text: output_text, reasoning: thoughts.map(({ text }) => text).join(''), finish };
}

const responses: Client = {
  async whole(reached, model) {
    return outcomeIn(await clientAt(reached).responses.create({ model, input: prompt, max_output_tokens: 64 }));
  },
  async streamed(reached, model, shown) {
    const stream = clientAt(reached).responses.stream({ model, input: prompt, max_output_tokens: 64 });
    for await (const event of stream) if (event.type === 'response.output_text.delta') shown.push(event.delta);
    return outcomeIn(await stream.finalResponse());
  },
};

describe('openai, chat.completions', () => testEachHabit(() => standIn, chat, openaiRows));

describe('openai, responses, which the service alone speaks', () =>
  testEachHabit(() => standIn, responses, serviceOutcomes(openaiRows), { straight: false }));
