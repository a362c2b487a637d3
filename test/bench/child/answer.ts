type Task = (argument: never) => unknown;

interface Question {
  readonly id: number;
  readonly task: string;
  readonly argument: unknown;
}

/** Options that the parent passed to this process at its start. */
export function startOptions<T>(): T {
  return JSON.parse(process.argv[2] ?? 'null') as T;
}

/** Runs the tasks that the parent requests, reports this process's CPU time to it, and ends when the parent ends. */
export function serveTasks(ready: object, tasks: Readonly<Record<string, Task>>, close: () => unknown): void {
  const every: Readonly<Record<string, Task>> = { ...tasks, cpu: () => process.cpuUsage() };
  const tell = (told: object) => process.send?.(told, () => {});
  const end = async () => {
    await close();
    process.exit();
  };
  process.on('message', async ({ id, task, argument }: Question) => {
    try {
      tell({ id, result: await every[task]?.(argument as never) });
    } catch (fault) {
      tell({ id, fault: fault instanceof Error ? (fault.stack ?? fault.message) : String(fault) });
    }
  });
  process.on('disconnect', end);
  if (process.connected) tell({ ready });
  else void end();
}
