import { z } from 'zod';
import { JsonMembers } from '../receipt/answers.ts';

const Svc = JsonMembers.describe('The signed receipt: verify_url, payment_ref, task_id, proof_outcome and all proofs.');

export const ImageAnswer = z.object({
  created: z.int().describe('Unix seconds.'),
  data: z
    .array(
      z.object({
        b64_json: z.string().optional(),
        url: z.string().optional().describe('Where the hub keeps it, for as long as it does.'),
        revised_prompt: z.string().optional(),
      }),
    )
    .length(1),
  svc: Svc,
});

export const TranscriptionAnswer = z.object({
  text: z.string(),
  task: z.literal('transcribe').optional(),
  language: z.string().optional(),
  duration: z.number().optional().describe('Seconds.'),
  segments: z
    .array(JsonMembers)
    .optional()
    .describe('As OpenAI spells them; with `verbose_json`, like all beside the text.'),
  svc: Svc,
});
