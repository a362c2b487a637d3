import { Refusal } from '../../../schema/errors.ts';
import type { JobJudgement } from './job.machine.ts';

/* Turns what a job does not allow now into 409 job_state_conflict. */

/** @throws job_state_conflict, with where the job stands and what may be done there */
export function requireJobMove(judgement: JobJudgement): Extract<JobJudgement, { kind: 'moves' }> {
  if (judgement.kind === 'moves') return judgement;
  const { state, legal } = judgement;
  const may = legal.length === 0 ? 'nothing may be done' : `what may be done is ${legal.join(', ')}`;
  throw new Refusal('job_state_conflict', {
    detail: `The job is ${state}: ${may}.`,
    facts: { state, legal },
  });
}
