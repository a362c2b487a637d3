import {
  Agent,
  type Model,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  type RunItem,
  Runner,
} from '@openai/agents';
import OpenAI from 'openai';
import { beforeAll, describe } from 'vitest';
import { ANSWER, FAILED, openaiRows, plain } from '../../harness/habits/openai-rows.ts';
import type { ApiAddress } from '../../harness/habits/outcome.ts';
import { type Client, type Rows, serviceOutcomes, testEachHabit, withoutShown } from '../../harness/habits/rows.ts';
import { API_KEY, openStandIn, prompt, type StandIn } from '../../harness/habits/stand-in.ts';

/* OpenAI's agents as installed from npm, with only the address and the paying `fetch` of their client changed. */

let standIn: StandIn;
beforeAll(async () => {
  standIn = await openStandIn();
});

// Traces would go to OpenAI, whatever the model.
const runner = new Runner({ tracingDisabled: true });
/** An agent repeats the call if its model returned nothing. */
const maxTurns = 2;

function agents(modelOf: (client: OpenAI, name: string) => Model): Client {
  const agentAt = ({ baseURL, fetch: by }: ApiAddress, name: string) => {
    const client = new OpenAI({ baseURL, apiKey: API_KEY, maxRetries: 1, fetch: by });
    return new Agent({ name: 'Judge', model: modelOf(client, name), modelSettings: { maxTokens: 64 } });
  };
  return {
    async whole(reached, name) {
      const { finalOutput, newItems } = await runner.run(agentAt(reached, name), prompt, { maxTurns });
      return { text: finalOutput ?? '', reasoning: thoughtsIn(newItems) };
    },
    async streamed(reached, name, shown) {
      const result = await runner.run(agentAt(reached, name), prompt, { maxTurns, stream: true });
      for await (const piece of result.toTextStream()) shown.push(String(piece));
      await result.completed;
      return { text: result.finalOutput ?? '', reasoning: thoughtsIn(result.newItems) };
    },
  };
}

function thoughtsIn(items: readonly RunItem[]): string {
  const thoughts = items.flatMap(({ rawItem }) => (rawItem?.type === 'reasoning' ? (rawItem.rawContent ?? []) : []));
  return thoughts.map(({ text }) => text).join('');
}

const chat = agents((client, name) => new OpenAIChatCompletionsModel(client, name));
const responses = agents((client, name) => new OpenAIResponsesModel(client, name));

const AGAIN = 'MaxTurnsExceededError ×2';

/** The client shows reasoning under one of its names, and repeats the call if a model returned nothing. */
const rows: Rows = {
  ...withoutShown('finish', openaiRows),
  'dev/thinking': ANSWER,
  'dev/thinks-to-the-limit': AGAIN,
  'dev/only-role': [AGAIN, FAILED],
  'dev/sparse': { whole: ANSWER, streamed: [AGAIN, ANSWER] },
  'dev/thinks-and-stops': { whole: [AGAIN, FAILED], streamed: [AGAIN, 'APIError hub_broke_off'] },
};

const expectedLine = (model: string) => plain(model).replace(/ stop$/, '');

/** Each failed or incomplete response is an error of its own. The client shows only summaries of reasoning. */
const responsesRows: Rows = {
  ...withoutShown('thoughts', serviceOutcomes(rows)),
  'dev/thinks-to-the-limit': 'ModelBehaviorError',
  'dev/thinks-and-stops': { whole: FAILED, streamed: 'ModelBehaviorError' },
  'dev/no-finish-reason': { whole: ANSWER, streamed: `ModelBehaviorError after ${ANSWER}` },
  'dev/fails-within': { whole: FAILED, streamed: 'ModelBehaviorError after "9.8 is"' },
  'dev/cuts-off': { whole: expectedLine('dev/cuts-off'), streamed: 'ModelBehaviorError after "One two "' },
  'dev/ends-with-error-event': {
    whole: expectedLine('dev/ends-with-error-event'),
    streamed: 'ModelBehaviorError after "One two "',
  },
  'dev/ends-with-bare-error': {
    whole: expectedLine('dev/ends-with-bare-error'),
    streamed: 'ModelBehaviorError after "One two "',
  },
  'dev/runs-out-of-resources': { whole: FAILED, streamed: 'ModelBehaviorError after "One two "' },
};

describe('@openai/agents, chat completions', () => testEachHabit(() => standIn, chat, rows));

describe('@openai/agents, responses, which the service alone speaks', () =>
  testEachHabit(() => standIn, responses, responsesRows, { straight: false }));
