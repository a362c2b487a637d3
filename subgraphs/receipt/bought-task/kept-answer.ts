import { isJsonObject, type JsonObject, present } from '../../../schema/canonical-json.ts';
import { jsonText, RawJson } from '../../../schema/json-text.ts';
import { type KeptTranscription, taskOf } from '../inference/audio/transcription.paid.ts';
import { canonicalData } from '../inference/embeddings/vectors.ts';
import { forecastOf, type KeptQuote, type KeptTask, shownTask } from '../inference/tasks/task.paid.ts';

/**
 * Returns a kept answer in the form of the wire, so that the hash in the receipt can be computed again. For a call by key the paid field is
 * not stored with the answer, so the kind of answer is recognised by its members: only vectors have `vectors`, only an image has `data`,
 * only a transcription has `text`, only a forecast has `figures`, and only a task has `payment_rail`. Vectors are returned as JSON text,
 * because nothing here needs a million parsed numbers.
 */
export function wireAnswer(kept: JsonObject): JsonObject | RawJson {
  const { vectors, ...others } = kept;
  if (Array.isArray(vectors)) {
    const data = new RawJson(canonicalData(vectors as string[]));
    return new RawJson(jsonText({ object: 'list', data, ...others }));
  }
  const { data, text } = kept;
  // Responses for images and transcriptions leave out members that are null.
  if (Array.isArray(data)) return { ...kept, data: data.map(item => (isJsonObject(item) ? present(item) : item)) };
  if (typeof text === 'string') return present({ ...kept, task: taskOf(kept as KeptTranscription) });
  if (isJsonObject(kept.figures)) return { ...forecastOf(kept as unknown as KeptQuote) };
  if ('payment_rail' in kept) return shownTask(kept as unknown as KeptTask);
  return kept;
}
