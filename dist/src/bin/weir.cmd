@echo off
rem Runs Weir with the Java runtime that is beside it; without one, with the machine's Java, 17 or newer.
setlocal
set "HOME_DIR=%~dp0.."
set "JAVA=java"
if defined JAVA_HOME set "JAVA=%JAVA_HOME%\bin\java.exe"
if exist "%HOME_DIR%\runtime\bin\java.exe" set "JAVA=%HOME_DIR%\runtime\bin\java.exe"
set "STOP="
if "%~1"=="serve" set "STOP=-XX:+ExitOnOutOfMemoryError"
"%JAVA%" %STOP% %WEIR_JAVA_OPTS% --enable-native-access=ALL-UNNAMED "-Dweir.providers=%HOME_DIR%\lib\providers" -cp "%HOME_DIR%\lib\*" dev.weir.cli.Main %*
exit /b %ERRORLEVEL%
