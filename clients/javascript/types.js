// Generated from crates/actions/src/contract; see docs/actions.md. Do not edit.

export const botActionTypes = Object.freeze(["transcribe_audio", "summarize", "generate_image", "process_file"]);
export const botActionStatuses = Object.freeze(["processing", "done", "error"]);
export const messageRoles = Object.freeze(["user", "bot", "system"]);
export const actionsListedMax = 200;

export const defaultTexts = Object.freeze({
  "en": {
    "generate_image": "Creating the image…",
    "other": "Working on it…",
    "process_file": "Processing the file…",
    "summarize": "Preparing the summary…",
    "transcribe_audio": "Preparing the transcript…"
  },
  "ru": {
    "generate_image": "Создаём изображение…",
    "other": "Выполняем действие…",
    "process_file": "Обрабатываем файл…",
    "summarize": "Готовим саммари…",
    "transcribe_audio": "Готовим стенограмму…"
  }
});

export const errorTexts = Object.freeze({
  "en": {
    "other": "The action failed",
    "timeout": "The time ran out"
  },
  "ru": {
    "other": "Не получилось выполнить действие",
    "timeout": "Время ожидания истекло"
  }
});
