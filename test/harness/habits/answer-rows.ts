import type { HabitModel } from '../../../gateway/development/hub/habits.ts';
import { ANSWER, plain, THOUGHT } from './openai-rows.ts';

/** Outcome of a habit in every way in which an answer is sold (`apis.ts`): one line, or one for whole and one for streamed answers. */
type AnswerRow = string | { readonly whole: string; readonly streamed: string };

const FAILED = '502 hub_failed';
const BEGUN = '"One two "';
const brokeOff = (after: string) => `hub_broke_off after ${after}`;
/** A development model whose whole answers have no habit and whose streams break off. */
const breaks = (model: string): AnswerRow => ({
  whole: `${plain(model)} as ${model}`,
  streamed: brokeOff(`${BEGUN} as m`),
});

export const answerRows: Readonly<Record<HabitModel, AnswerRow>> = {
  'dev/context-too-long': '400 hub_rejected_request',
  'dev/refuses-max-tokens': `${plain('dev/refuses-max-tokens')} as dev/refuses-max-tokens`,
  'dev/context-too-long-flat': '400 hub_rejected_request',
  'dev/flagged': '403 hub_rejected_content',
  'dev/content-filtered': '400 hub_rejected_request',
  'dev/rate-limited': '429 hub_rate_limited wait 7',
  'dev/out-of-credit': FAILED,
  'dev/key-refused': FAILED,
  'dev/no-balance': FAILED,
  'dev/overloaded': '503 hub_overloaded wait 20',
  'dev/thinking': `${ANSWER} ${THOUGHT} stop as deepseek-reasoner`,
  'dev/thinking-details': `${ANSWER} ${THOUGHT} stop as anthropic/claude-sonnet-4.5`,
  'dev/thinks-to-the-limit': '"" [Compare 9.80 with] length as deepseek-v4',
  'dev/thinks-and-stops': { whole: FAILED, streamed: brokeOff('"" [Compare 9.80 with] as deepseek-v4') },
  'dev/no-finish-reason': {
    whole: `${ANSWER} stop as muse-spark`,
    streamed: brokeOff(`${ANSWER} as muse-spark`),
  },
  'dev/empty-finish-reason': `${ANSWER} stop as mistral:latest`,
  'dev/only-role': FAILED,
  'dev/partial-usage': { whole: `${ANSWER} stop as deepseek-chat`, streamed: `${ANSWER} stop` },
  'dev/sparse': `${ANSWER} stop`,
  'dev/fails-within': { whole: FAILED, streamed: brokeOff('"9.8 is" as openai/gpt-4o') },
  'dev/cuts-off': breaks('dev/cuts-off'),
  'dev/cuts-off-once': breaks('dev/cuts-off-once'),
  'dev/ends-with-error-event': breaks('dev/ends-with-error-event'),
  'dev/ends-with-bare-error': breaks('dev/ends-with-bare-error'),
  'dev/runs-out-of-resources': { whole: FAILED, streamed: brokeOff(`${BEGUN} as m`) },
  'dev/odd-finish-reason': `${BEGUN} stop as m`,
  'dev/anthropic-finish-reason': {
    whole: '"Hello! How can I assist you today?" stop as anthropic/claude-3-opus',
    streamed: `${BEGUN} stop as m`,
  },
  'dev/answers-dated': `${plain('dev/answers-dated')} as dev/answers-dated-2024-08-06`,
  'dev/answers-other': `${plain('dev/answers-other')} as dev/small`,
  'dev/answers-unknown': `${plain('dev/answers-unknown')} as tiny-model-2024`,
};
