import { expect, it } from 'vitest';
import { WorkUnderway } from '../../../gateway/call/work-underway.ts';

const underway = new WorkUnderway();

/** Whether work for a task is over as it begins. */
const begins = (task_id: string) => underway.during(task_id, async canceled => canceled.aborted);

it('work for a task that was canceled between its claim and its work is over as it begins, whenever that is', async () => {
  underway.cancel('early');
  expect(await begins('other')).toBe(false);
  expect(await begins('early')).toBe(true);
  expect(underway.wasCanceled('early')).toBe(true);
  expect(underway.wasCanceled('other')).toBe(false);
});

it('work that is under way is over when its task is canceled, and no other is', async () => {
  const canceled = Promise.withResolvers<boolean>();
  const work = underway.during('begun', signal => {
    signal.addEventListener('abort', () => canceled.resolve(signal.aborted));
    return canceled.promise;
  });
  expect(underway.tasks()).toEqual(['begun']);
  underway.cancel('another');
  expect(underway.tasks()).toEqual(['begun']);
  underway.cancel('begun');
  expect(await work).toBe(true);
  expect(underway.tasks()).toEqual([]);
});
