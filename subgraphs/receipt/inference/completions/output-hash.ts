import type { Json } from '../../../../schema/canonical-json.ts';
import type { Piece } from '../../../piece.ts';
import { type AssistantMessage, isText } from '../hubs/message.ts';
import type { ChatAnswer } from './completion.paid.ts';

/**
 * What the receipt of a chat commits to: its choices where they are text, as ever, and else the message, with all that it
 * calls. The receipt policy says so, and anybody can compute it from the answer, whole or streamed.
 */
export function committedOf(choices: ChatAnswer['choices']): Json {
  const [choice] = choices;
  return choice && !isText(choice.message) ? choice.message : choices;
}

/** A message that was kept, as pieces of a stream. */
export function piecesOf({ content, tool_calls = [], refusal }: AssistantMessage): readonly Piece[] {
  const calls = tool_calls.map(({ id, function: called }, call) => ({ call, id, ...called }));
  return [...(content ? [content] : []), ...(refusal === undefined ? [] : [{ refusal }]), ...calls];
}
