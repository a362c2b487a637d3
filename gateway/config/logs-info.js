/* LOG_LEVEL, for lines that are logged before the settings are read, which loads many modules. It is JavaScript, like launch.js. */

/** Whether LOG_LEVEL includes lines of level `info`. A wrong value is refused when the settings are read. */
export function logsInfo() {
  return !['fatal', 'error', 'warn', 'silent'].includes(process.env.LOG_LEVEL ?? '');
}
