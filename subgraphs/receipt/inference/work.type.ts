import { z } from 'zod';
import { intentMembers, ModelId, SvcOptionsNoun, svcMembers } from '../../../schema/requests/paid-work.ts';
import { inputType } from '../../graph-type.ts';

/* What paid requests have in common, as the graph has it. An input that is made of its request has these members from there. */

inputType('SvcInput', 'What is asked of this service, beside what is asked of a model.', SvcOptionsNoun);

export const IntentInput = inputType('IntentInput', 'What every paid request may say.', z.object(intentMembers));

export const WorkInput = inputType(
  'WorkInput',
  "The same of a request for a model's work.",
  z.object({ model: ModelId, ...intentMembers, ...svcMembers }),
);
