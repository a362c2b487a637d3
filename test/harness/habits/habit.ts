import type { HabitModel } from '../../../gateway/development/hub/habits.ts';

/**
 * Habits of the development hubs that a client can notice. The excluded ones are which model a hub names, which no client checks, and what
 * a hub does only once, which a repeated payment shows (test/doors/broken-reruns.test.ts).
 */
export type Habit = Exclude<HabitModel, 'dev/cuts-off-once' | 'dev/answers-dated' | 'dev/answers-unknown'>;

const OUR_CODE = 'A code is passed on where it has the form of OpenAI’s; elsewhere ours stands.';
const OPERATOR = 'It is about the account of this service, so its caller is told of a failure, which may pass.';
const CROWDED =
  'Every hub is asked first; then the status and the shortest wait are those of the hubs, the code is ours.';
const FINISH = 'A whole answer without a finish reason has come to its end.';
const FILLED_IN = 'What is missing is filled in or left out.';
const NO_ANSWER = 'An answer of nothing is a failure, and is not charged.';
const FAILED_WITHIN = 'A whole answer that says that it failed is not charged.';
const BROKE_OFF =
  'A stream without an end of its own says in our code that it broke off, and what its payment still brings.';
const OF_THE_API = 'Finish reasons are those of the API alone.';

/** Reasons why an outcome through the service differs from the outcome straight from the hub. */
export const whyItDiffers: Partial<Record<Habit, string>> = {
  'dev/refuses-max-tokens': 'The bound is sent by the other name that the model takes.',
  'dev/context-too-long-flat': OUR_CODE,
  'dev/flagged': OUR_CODE,
  'dev/rate-limited': CROWDED,
  'dev/overloaded': CROWDED,
  'dev/out-of-credit': OPERATOR,
  'dev/key-refused': OPERATOR,
  'dev/no-balance': OPERATOR,
  'dev/thinks-and-stops': 'Thoughts alone are no answer where a model was not cut short.',
  'dev/no-finish-reason': `${FINISH} ${BROKE_OFF}`,
  'dev/empty-finish-reason': FINISH,
  'dev/only-role': NO_ANSWER,
  'dev/partial-usage': FILLED_IN,
  'dev/sparse': `${FINISH} ${FILLED_IN}`,
  'dev/fails-within': `${FAILED_WITHIN} ${BROKE_OFF}`,
  'dev/cuts-off': BROKE_OFF,
  'dev/ends-with-error-event': BROKE_OFF,
  'dev/ends-with-bare-error': BROKE_OFF,
  'dev/runs-out-of-resources': `${FAILED_WITHIN} ${BROKE_OFF}`,
  'dev/odd-finish-reason': OF_THE_API,
  'dev/anthropic-finish-reason': OF_THE_API,
};
