import { isJsonObject, type JsonObject, present } from '../../../schema/canonical-json.ts';
import { jsonText, RawJson } from '../../../schema/json-text.ts';
import { type KeptTranscription, taskOf } from '../inference/audio/transcription.paid.ts';
import { canonicalData } from '../inference/embeddings/vectors.ts';
import { forecastOf, type KeptQuote, type KeptTask, shownTask } from '../inference/tasks/task.paid.ts';

/**
 * A kept answer in the words of the wire, so that what the receipt commits to can be hashed again. A call by key keeps no field beside its
 * answer, so the form is known by its members: only vectors have `vectors`, only an image has `data`, only a transcription has `text`, only
 * a forecast has `figures`, and only a task has `payment_rail`. Vectors are text, because a million numbers would be parsed for nothing.
 */
export function wireAnswer(kept: JsonObject): JsonObject | RawJson {
  const { vectors, ...others } = kept;
  if (Array.isArray(vectors)) {
    const data = new RawJson(canonicalData(vectors as string[]));
    return new RawJson(jsonText({ object: 'list', data, ...others }));
  }
  const { data, text } = kept;
  // Nulls are on the wire in neither an image nor a transcription.
  if (Array.isArray(data)) return { ...kept, data: data.map(item => (isJsonObject(item) ? present(item) : item)) };
  if (typeof text === 'string') return present({ ...kept, task: taskOf(kept as KeptTranscription) });
  if (isJsonObject(kept.figures)) return { ...forecastOf(kept as unknown as KeptQuote) };
  if ('payment_rail' in kept) return shownTask(kept as unknown as KeptTask);
  return kept;
}
