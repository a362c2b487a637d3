import type { TaskRequest } from '../../../../schema/requests/tasks.ts';
import type { WorkThenSettle } from '../../../sale.ts';
import type { Hubs } from '../hubs/open.ts';
import { catalogueWork } from './catalogue-work.ts';
import type { TaskFigures } from './figures.ts';

/** A task that is taken on. It comes without its input, so the receipt commits to no output. */
export function taskPaid(hubs: Hubs): WorkThenSettle<TaskRequest, TaskFigures> {
  return catalogueWork<TaskRequest, TaskFigures>(hubs, {
    field: 'Mutation.requestTask',
    job_kind: 'completions',
    work: answer => ({ answer, output_sha256: null, omission_rule: 'no_input' }),
  });
}
